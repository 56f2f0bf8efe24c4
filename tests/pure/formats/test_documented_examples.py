"""What docs/formats.md shows can be imported as it stands."""

import io
import re

from studies.formats.problems import Problems
from studies.formats.rubrics import read_rubric
from studies.formats.study import read_study_file
from tests.conftest import ROOT

BLOCKS = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "formats.md").read_text(), re.DOTALL)


def test_documented_study_and_rubric_are_read_without_a_problem() -> None:
    study_text = next(block for block in BLOCKS if "title: Help-centre search" in block)
    rubric_text = next(block for block in BLOCKS if block.startswith("grades:"))
    problems = Problems()
    study = read_study_file(io.BytesIO(study_text.encode()), file="study.yaml", problems=problems)
    rubric = read_rubric(io.BytesIO(rubric_text.encode()), file="rubric.yaml", problems=problems)
    assert problems.items == []
    assert study is not None
    assert [query_class.name for query_class in study.classes] == ["procedural"]
    assert rubric is not None
    assert [grade.relevant for grade in rubric.grades or []] == [False, True, True]
    assert [clause.name for one in rubric.dimensions for clause in one.clauses] == [
        "procedural",
        "dated_policies",
    ]
