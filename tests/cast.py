"""The fixed cast: one small study and the people around it.

Every permission test speaks of these people. `ana` and `ben` annotate, `ada` adjudicates, `max`
administers, `lia` leads, `uma` does everything, `sid` is a member of another study only, and
`sue` is the site's superuser.
"""

from dataclasses import dataclass

from studies.models import Member, Pair, Role, Round, RubricVersion, Study, User
from tests import factories as make


@dataclass(frozen=True)
class Cast:
    study: Study
    other_study: Study
    rubric: RubricVersion
    main: Round
    pairs: list[Pair]
    ana: Member
    ben: Member
    ada: Member
    max: Member
    lia: Member
    uma: Member
    sid: Member
    sue: User

    def user(self, name: str) -> User:
        return User.objects.get(username=name)


def make_cast(queries: int = 3, pairs_per_query: int = 3) -> Cast:
    """Three queries (procedural, factual, unclassified) with three pairs each, two annotators
    a query; answerability has a procedural clause."""
    study = make.make_study("alpha", title="Alpha help centre", seed="a" * 32)
    other = make.make_study("beta", title="Beta help centre")
    make.make_query_class(study, "procedural", title="How do I …")
    make.make_query_class(study, "factual")
    rubric = make.make_rubric(study, clauses={"answerability": {"procedural": ("procedural",)}})
    main = make.make_round(study, rubric_version=rubric)
    pairs: list[Pair] = []
    for number, query_class in zip(
        range(1, queries + 1), ["procedural", "factual", None] * queries, strict=False
    ):
        query = make.make_query(study, f"q{number}", query_class=query_class)
        pairs += [
            make.make_pair(query, make.make_document(study, f"q{number}-d{place}"))
            for place in range(1, pairs_per_query + 1)
        ]
    sue = make.make_user("sue", is_superuser=True, is_staff=True)
    return Cast(
        study=study,
        other_study=other,
        rubric=rubric,
        main=main,
        pairs=pairs,
        ana=make.make_member(study, "ana", Role.ANNOTATOR),
        ben=make.make_member(study, "ben", Role.ANNOTATOR),
        ada=make.make_member(study, "ada", Role.ADJUDICATOR),
        max=make.make_member(study, "max", Role.ADMIN),
        lia=make.make_member(study, "lia", Role.LEAD),
        uma=make.make_member(study, "uma", *Role),
        sid=make.make_member(other, "sid", *Role),
        sue=sue,
    )
