"""How PostgreSQL goes about an import beside a study that is there: by its plans."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from studies.services.imports import import_study, read_study
from tests.studies.study_folders import corpus, write_folder

DOCUMENTS = 3000
QUERIES = 60
Plan = dict[str, Any]


def import_large(folder: Path, slug: str) -> list[Plan]:
    """Import a study of its own; returns the plan of each statement that adds rows to a table."""
    ids = [f"d{number}" for number in range(DOCUMENTS)]
    run = "".join(
        f"q{n % QUERIES} Q0 {doc} {n // QUERIES + 1} {-n} a\n" for n, doc in enumerate(ids)
    )
    queries = "".join(f"q{n}\tquestion {n}\n" for n in range(QUERIES))
    files = {"queries.tsv": queries, "corpus.jsonl": corpus(*ids), "runs/a.run": run}
    write_folder(folder, files | {"study.yaml": f"study: {slug}\ndepth: 50\n"})
    plans: list[Plan] = []

    def explain(execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
        if isinstance(sql, str) and sql.startswith("\nINSERT INTO studies_"):
            execute(f"EXPLAIN (FORMAT JSON) {sql}", params, many, context)
            plans.append(context["cursor"].fetchone()[0][0]["Plan"])
        return execute(sql, params, many, context)

    with connection.execute_wrapper(explain):
        import_study(read_study(folder))
    return plans


def walk(plan: Plan) -> Iterator[Plan]:
    yield plan
    for part in plan.get("Plans", []):
        yield from walk(part)


def is_rescan(node: Plan) -> bool:
    """A loop that reads a whole large table anew for each row of another."""
    if node["Node Type"] != "Nested Loop":
        return False
    inner = node["Plans"][1]
    return any(
        part["Node Type"] == "Seq Scan" and part["Relation Name"].startswith("staged_")
        for part in walk(inner)
    )


@pytest.mark.django_db
def test_a_second_study_is_joined_by_hash_or_index_and_never_by_scanning_anew(
    tmp_path: Path,
) -> None:
    first = import_large(tmp_path / "first", "first")
    second = import_large(tmp_path / "second", "second")
    assert len(first) == len(second) >= 5
    rescans = [node for plan in second for node in walk(plan) if is_rescan(node)]
    assert rescans == []
    # Statistics of before the import would make it expect a single row here, or a few.
    expected = {plan["Relation Name"]: plan["Plans"][0]["Plan Rows"] for plan in second}
    assert expected["studies_documenttext"] >= DOCUMENTS / 10
    assert expected["studies_ranking"] >= QUERIES / 10
