"""Numbers as addresses and forms write them."""


def read_number(text: str) -> int | None:
    """The whole number that a text writes with plain digits; None for anything else, and for
    numbers beyond those that a column of the database holds."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None
