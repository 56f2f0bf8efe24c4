"""How dates and times are written: one way for each language, with the time zone said."""
