"""How far the rounds of a study are, for those who run it: places, people, what is left.

Counts of labels, never what they say.
"""
