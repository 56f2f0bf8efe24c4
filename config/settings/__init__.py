"""Settings by place: `base` holds what is true everywhere, `dev`, `test` and `prod` the rest."""
