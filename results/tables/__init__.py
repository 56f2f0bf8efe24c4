"""The tables of a stored report, by name: for pages, and as CSV files."""

from results.tables import agreement, people, splitting
from results.tables.making import TABLES, Payload, Table, write_table

__all__ = ["TABLES", "Table", "agreement", "make_tables", "people", "splitting", "write_table"]


def make_tables(payload: Payload, *names: str) -> dict[str, Table]:
    """These tables under their names, with `_` for `-`, as a template asks for them."""
    return {name.replace("-", "_"): TABLES[name](payload) for name in names}
