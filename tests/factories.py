"""Builders of small studies. Each makes one thing with sensible defaults and returns it."""

from datetime import timedelta
from itertools import count
from typing import Any

from django.utils import timezone

from annotation.models import Claim, Judgment
from annotation.services.claims import count_label_changes
from results.models import FinalLabel
from studies.models import (
    Clause,
    Dimension,
    Document,
    DocumentText,
    Grade,
    ImportDraft,
    Job,
    Member,
    Pair,
    Query,
    QueryClass,
    Ranking,
    Role,
    Round,
    RoundQuery,
    RubricDraft,
    RubricVersion,
    Run,
    Study,
    User,
)
from studies.rubric_drafts import draft_from_rubric
from studies.services.rubrics import describe_rubric

numbers = count(1)
PASSWORD = "correct-horse-battery"
DEFAULT_GRADES = {0: "irrelevant", 1: "partial", 2: "answers"}
DEFAULT_DIMENSIONS = ("answerability", "recency", "authority")


def make_user(username: str = "", **fields: Any) -> User:
    username = username or f"user{next(numbers)}"
    return User.objects.create_user(username=username, password=PASSWORD, **fields)


def make_study(slug: str = "", **fields: Any) -> Study:
    slug = slug or f"study-{next(numbers)}"
    return Study.objects.create(slug=slug, title=fields.pop("title", f"Study {slug}"), **fields)


def make_member(
    study: Study, name: str = "", *roles: Role, with_account: bool = True, **fields: Any
) -> Member:
    """A member with an account of the same name, or (without one) an identity."""
    name = name or f"member{next(numbers)}"
    if with_account:
        fields.setdefault("user", User.objects.filter(username=name).first() or make_user(name))
    return Member.objects.create(
        study=study, name=name, roles=[role.value for role in roles], **fields
    )


def make_rubric(
    study: Study,
    *,
    grades: dict[int, str] | None = None,
    dimensions: tuple[str, ...] = DEFAULT_DIMENSIONS,
    clauses: dict[str, dict[str, tuple[str, ...]]] | None = None,
    number: int = 0,
    publish: bool = True,
) -> RubricVersion:
    """A rubric version; `clauses` maps dimension -> clause -> names of query classes."""
    number = number or study.rubric_versions.count() + 1
    version = RubricVersion.objects.create(study=study, number=number)
    for value, name in (grades or DEFAULT_GRADES).items():
        Grade.objects.create(
            rubric_version=version,
            value=value,
            name=name,
            definition=f"What {name} means.",
            is_relevant=value >= 1,
        )
    for position, name in enumerate(dimensions):
        dimension = Dimension.objects.create(
            rubric_version=version, name=name, test=f"The test of {name}.", position=position
        )
        for place, (clause, classes) in enumerate((clauses or {}).get(name, {}).items()):
            made = Clause.objects.create(
                dimension=dimension, name=clause, text=f"The {clause} clause.", position=place
            )
            made.classes.set(QueryClass.objects.filter(study=study, name__in=classes))
    if publish:
        version.published_at = timezone.now()
        version.save()
    return version


def make_rubric_draft(study: Study) -> RubricDraft:
    """The next version, begun from the newest one."""
    newest = study.rubric_versions.last()
    content = draft_from_rubric(describe_rubric(newest)) if newest else {}
    return RubricDraft.objects.create(study=study, content=content, based_on=newest)


def make_round(study: Study, name: str = "main", **fields: Any) -> Round:
    version = fields.pop("rubric_version", None) or study.rubric_versions.last()
    return Round.objects.create(
        study=study, name=name, rubric_version=version or make_rubric(study), **fields
    )


def make_query_class(study: Study, name: str, **fields: Any) -> QueryClass:
    return QueryClass.objects.get_or_create(study=study, name=name, defaults=fields)[0]


def make_query(
    study: Study,
    external_id: str = "",
    *,
    query_class: str | None = None,
    annotators: int | None = -1,
    rounds: list[Round] | None = None,
    **fields: Any,
) -> Query:
    """A query, put into every round of the study (or `rounds`) with `annotators` slots.

    `annotators`: -1 takes the study's number, None means all annotators.
    """
    external_id = external_id or f"query-{next(numbers)}"
    query = Query.objects.create(
        study=study,
        external_id=external_id,
        text=fields.pop("text", f"what about {external_id}?"),
        query_class=make_query_class(study, query_class) if query_class else None,
        **fields,
    )
    slots = study.annotators_per_query if annotators == -1 else annotators
    for round in rounds if rounds is not None else study.rounds.all():
        RoundQuery.objects.create(round=round, query=query, annotators=slots)
    return query


def make_document(
    study: Study, external_id: str = "", *, text: str | None = "Some text.", **fields: Any
) -> Document:
    external_id = external_id or f"document-{next(numbers)}"
    document = Document.objects.create(
        study=study, external_id=external_id, title=fields.pop("title", "A title"), **fields
    )
    if text is not None:
        DocumentText.objects.create(document=document, text=text)
    return document


def make_pair(query: Query, document: Document | None = None, **fields: Any) -> Pair:
    rank = fields.pop("pool_rank", query.pairs.count() + 1)
    return Pair.objects.create(
        study=query.study,
        query=query,
        document=document or make_document(query.study),
        pool_rank=rank,
        **fields,
    )


def make_judgment(
    round: Round,
    pair: Pair,
    annotator: Member,
    grade: int | None,
    *,
    decided_by: str | None = "answerability",
    clause: str | None = None,
    **fields: Any,
) -> Judgment:
    """A label; `grade` None means unsure."""
    version = fields.pop("rubric_version", round.rubric_version)
    dimension = version.dimensions.get(name=decided_by) if decided_by else None
    count_label_changes({(round.pk, annotator.pk): 1})
    return Judgment.objects.create(
        round=round,
        pair=pair,
        annotator=annotator,
        rubric_version=version,
        grade=grade,
        is_unsure=grade is None,
        decided_by=dimension,
        clause=dimension.clauses.get(name=clause) if dimension and clause else None,
        **fields,
    )


def make_final_label(
    pair: Pair,
    grade: int | None,
    *,
    by: Member | None = None,
    decided_by: str | None = "answerability",
    clause: str | None = None,
    **fields: Any,
) -> FinalLabel:
    """A final label; `grade` None drops the pair."""
    version = fields.pop("rubric_version", None) or pair.study.rubric_versions.first()
    dimension = version.dimensions.get(name=decided_by) if decided_by else None
    return FinalLabel.objects.create(
        pair=pair,
        grade=grade,
        is_dropped=grade is None,
        decided_by=dimension,
        clause=dimension.clauses.get(name=clause) if dimension and clause else None,
        rubric_version=version,
        reason=fields.pop("reason", "The rubric says so."),
        by=by,
        **fields,
    )


def make_claim(
    round_query: RoundQuery, annotator: Member, *, slot: int = 1, **fields: Any
) -> Claim:
    return Claim.objects.create(
        round_query=round_query,
        annotator=annotator,
        slot=slot,
        expires_at=fields.pop("expires_at", timezone.now() + timedelta(hours=1)),
        **fields,
    )


def make_run(study: Study, name: str, hits: dict[str, list[str]]) -> Run:
    """A run from query id -> document ids in rank order."""
    run = Run.objects.create(study=study, name=name, tag=name)
    queries = {query.external_id: query for query in study.queries.all()}
    Ranking.objects.bulk_create(
        Ranking(
            run=run,
            query=queries[query_id],
            document_ids=documents,
            scores=[1 / rank for rank in range(1, len(documents) + 1)],
        )
        for query_id, documents in hits.items()
    )
    return run


def make_job(study: Study, kind: str = "results.compute_agreement", **fields: Any) -> Job:
    return Job.objects.create(study=study, kind=kind, **fields)


def make_draft(study: Study, **fields: Any) -> ImportDraft:
    """An upload that was read and waits to be confirmed."""
    return ImportDraft.objects.create(
        study=study,
        created_by=fields.pop("created_by", None) or make_user(),
        state=fields.pop("state", ImportDraft.State.READ),
        expires_at=fields.pop("expires_at", timezone.now() + timedelta(days=1)),
        **fields,
    )
