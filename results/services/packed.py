"""Columns of the database as numpy arrays, without a Python object for each row.

PostgreSQL sends a message for each row of a COPY, and taking a million of them apart takes
seconds, however narrow they are. So whatever has few values (annotator, grade, dimension) becomes
the key of a group, and the server packs what is left of the group's rows into one byte string of
fixed width. `python -m benchmarks` measures this beside a COPY row by row and beside the ORM.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import connection
from psycopg import sql

from results.statistics.table import IntArray

Row = tuple[Any, ...]

# The planner reckons 8 kB for each packed string and hundreds of times the groups that there are,
# so it would sort all rows to group them, which takes longer than all else, and on one processor.
# What a hash of the groups really holds are the strings, which are read in any case.
HASH_THE_GROUPS = """
SET LOCAL work_mem = '64MB';
SET LOCAL hash_mem_multiplier = 1000;
SET LOCAL parallel_tuple_cost = 0
"""


def expect_packing() -> None:
    """Have the server plan for few groups of packed rows, to the end of this transaction."""
    with connection.cursor() as cursor:
        cursor.execute(HASH_THE_GROUPS)


def copy_rows(select: str, parameters: Mapping[str, Any], types: Sequence[str]) -> list[Row]:
    """The rows of a SELECT through COPY in binary form.

    `select` names its parameters in braces; `types` are the PostgreSQL types of its columns.
    """
    literals = {name: sql.Literal(value) for name, value in parameters.items()}
    statement = sql.SQL("COPY ({}) TO STDOUT (FORMAT binary)").format(
        sql.SQL(select).format(**literals)
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(types)
        return list(copy.rows())


def unpack(packed: Iterable[bytes], kind: str) -> npt.NDArray[Any]:
    """One array of all groups' values, in their order; `kind` is i4, i8 or f8."""
    return np.frombuffer(b"".join(packed), dtype=f">{kind}").astype(kind)


def spread(values: Sequence[int], sizes: Sequence[int]) -> IntArray:
    """A group's code repeated for each of its rows, in 32 bits."""
    return np.repeat(np.array(values, dtype=np.int32), sizes)
