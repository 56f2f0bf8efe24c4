"""Query classes: making them, and giving them to queries in bulk."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F

from studies.classing import Rule, sort_by_rule
from studies.models import Query, QueryClass, Study, User
from studies.services.log import record_action


@transaction.atomic
def create_class(
    *,
    study: Study,
    name: str,
    title: str,
    is_high_risk: bool,
    minimum_queries: int = 0,
    user: User,
) -> QueryClass:
    """Raises ValidationError for a name that the study has already."""
    made = QueryClass(
        study=study,
        name=name,
        title=title,
        is_high_risk=is_high_risk,
        minimum_queries=minimum_queries,
        position=study.query_classes.count(),
    )
    made.full_clean()
    made.save()
    data = {"class": name, "title": title} | describe_weight(made)
    record_action(study, "class.created", user=user, data=data)
    return made


@transaction.atomic
def weigh_class(
    *, study: Study, name: str, is_high_risk: bool, minimum_queries: int, user: User
) -> bool:
    """Set what the release gate asks of a class; returns whether it is other than before. Raises
    QueryClass.DoesNotExist."""
    found = QueryClass.objects.select_for_update().get(study=study, name=name)
    before = describe_weight(found)
    found.is_high_risk, found.minimum_queries = is_high_risk, minimum_queries
    if describe_weight(found) == before:
        return False
    found.save(update_fields=["is_high_risk", "minimum_queries"])
    data = {"class": name, "before": before} | describe_weight(found)
    record_action(study, "class.weighed", user=user, data=data)
    return True


def describe_weight(query_class: QueryClass) -> dict[str, object]:
    return {
        "high_risk": query_class.is_high_risk,
        "minimum_queries": query_class.minimum_queries,
    }


@transaction.atomic
def classify_queries(
    *,
    study: Study,
    queries: Collection[int],
    query_class: QueryClass | None,
    user: User,
    rule: Rule | None = None,
) -> int:
    """Give the queries this class (None: none); returns how many had another one before.

    The log keeps what each had. Numbers computed before stay as they are, and are told to be old.
    """
    changed = Query.objects.filter(study=study, pk__in=queries).select_for_update(of=("self",))
    changed = changed.select_related("query_class").order_by("pk")
    before = {
        query.pk: (query.external_id, query.query_class.name if query.query_class else None)
        for query in changed
        if query.query_class_id != (query_class.pk if query_class else None)
    }
    if not before:
        return 0
    Query.objects.filter(pk__in=before).update(query_class=query_class)
    Study.objects.filter(pk=study.pk).update(class_changes=F("class_changes") + len(before))
    data: dict[str, object] = {
        "class": query_class.name if query_class else None,
        "queries": dict(before.values()),
    }
    if rule is not None:
        data["rule"] = {"kind": rule.kind, "text": rule.text}
    record_action(study, "queries.classified", user=user, data=data)
    return len(before)


@dataclass(frozen=True, slots=True)
class Match:
    """What a rule does: the queries it is the first to fit, and how many of them it changes."""

    rule: Rule
    queries: Sequence[int]
    changes: int
    examples: Sequence[str]


EXAMPLES = 3


def match_rules(*, study: Study, rules: Sequence[Rule], unclassified_only: bool) -> list[Match]:
    """Try the rules on the study's queries without changing anything."""
    queries = Query.objects.filter(study=study).order_by("external_id")
    if unclassified_only:
        queries = queries.filter(query_class=None)
    rows = list(queries.values_list("pk", "text", "query_class__name"))
    texts = {key: text for key, text, _ in rows}
    classes = {key: name for key, _, name in rows}
    found = sort_by_rule(rules, texts.items())
    return [
        Match(
            rule=rule,
            queries=found[place],
            changes=sum(classes[key] != rule.query_class for key in found[place]),
            examples=[texts[key] for key in found[place][:EXAMPLES]],
        )
        for place, rule in enumerate(rules)
    ]


@transaction.atomic
def apply_rules(*, study: Study, rules: Sequence[Rule], unclassified_only: bool, user: User) -> int:
    """Classify by the rules; returns how many queries got another class."""
    classes = {one.name: one for one in study.query_classes.all()}
    matches = match_rules(study=study, rules=rules, unclassified_only=unclassified_only)
    return sum(
        classify_queries(
            study=study,
            queries=match.queries,
            query_class=classes[match.rule.query_class],
            user=user,
            rule=match.rule,
        )
        for match in matches
    )
