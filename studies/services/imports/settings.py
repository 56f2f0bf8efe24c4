"""The study itself, its query classes and its people."""

from __future__ import annotations

from collections.abc import Iterator

from studies.formats.records import ClassSpec, StudyFile
from studies.models import QueryClass, RoundQuery, Study, Unblinding, User
from studies.services.imports.plan import StudyPlan
from studies.services.imports.report import ImportReport
from studies.services.imports.state import StudyState
from studies.services.people import PersonRefused, ensure_member, find_or_create_identity


def add_study(plan: StudyPlan, report: ImportReport) -> tuple[Study, bool]:
    """The study of the plan, locked until the transaction ends, and whether it is new.

    A study that is there keeps its settings, except that its pool may become deeper, and gets its
    depth by the first import where it was made without one.
    """
    settings = plan.settings
    study, created = Study.objects.get_or_create(
        slug=settings.study, defaults={**_fields(settings), **_seed(plan)}
    )
    study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    is_deeper = not created and _deepen(study, plan, report)
    report.count("settings", read=1, new=int(created or is_deeper))
    if not created and plan.folder.study:
        for name, kept, said in _differences(study, settings):
            text = f"{name} is {kept!r} in the study and stays so (here: {said!r})"
            report.note(plan.settings_file, text)
    return study, created


def _fields(settings: StudyFile) -> dict[str, object]:
    return {
        "title": settings.title,
        "description": settings.description,
        "annotators_per_query": settings.annotators_per_query,
        "minimum_votes": settings.minimum_votes,
        "consensus": settings.consensus,
        "settle_own_pairs": settings.settle_own_pairs,
        "judges_read_results": settings.judges_read_results,
        "ordering": settings.ordering,
        "depth": settings.depth,
        "documents_required": settings.documents == "required",
    }


def _seed(plan: StudyPlan) -> dict[str, str]:
    return {"seed": plan.state.seed} if plan.state and plan.state.seed else {}


def _deepen(study: Study, plan: StudyPlan, report: ImportReport) -> bool:
    """Let the pool become as deep as the plan says; returns whether it was shallower before."""
    before, depth = study.depth, plan.settings.depth
    if before is not None and before >= depth:
        return False
    study.depth = depth
    study.save(update_fields=["depth"])
    if before is None:
        return False
    report.note(plan.settings_file, f"the pool grows from depth {before} to {depth}")
    return True


def _differences(study: Study, settings: StudyFile) -> Iterator[tuple[str, object, object]]:
    for name, said in _fields(settings).items():
        kept = getattr(study, name)
        if kept != said:
            yield name, kept, said


def add_classes(study: Study, plan: StudyPlan, report: ImportReport) -> None:
    """Create the classes that study.yaml declares and those that only queries name. A clause for
    any other is taken for a slip of the pen: its rubric is refused."""
    known = set(study.query_classes.values_list("name", flat=True))
    declared = {spec.name: spec for spec in plan.settings.classes}
    named = {query.query_class for query in plan.queries if query.query_class}
    undeclared = sorted(named - declared.keys() - known)
    wanted = [*declared.values(), *(ClassSpec(name) for name in undeclared)]
    QueryClass.objects.bulk_create(
        _query_class(study, spec, position)
        for position, spec in enumerate(wanted, start=len(known))
        if spec.name not in known
    )
    new = sum(spec.name not in known for spec in wanted)
    report.count("classes", read=len(wanted), new=new)
    if undeclared:
        file = plan.settings_file if plan.folder.study else plan.queries_file
        report.note(file, f"classes created that are not declared: {', '.join(undeclared)}")


def _query_class(study: Study, spec: ClassSpec, position: int) -> QueryClass:
    return QueryClass(
        study=study,
        name=spec.name,
        title=spec.title,
        is_high_risk=spec.high_risk,
        minimum_queries=spec.minimum_queries or 0,
        position=position,
    )


def add_people(
    study: Study,
    plan: StudyPlan,
    report: ImportReport,
    user: User | None,
    *,
    is_logged: bool = True,
) -> None:
    """Give people their memberships; accounts created for it have no password yet."""
    new = refused = 0
    for person in plan.settings.people:
        try:
            _, changed = ensure_member(
                study=study,
                name=person.name,
                roles=person.roles,
                user=user,
                is_logged=is_logged,
            )
        except PersonRefused as refusal:
            report.refuse("people", plan.settings_file, None, f"people: {refusal}")
            refused += 1
        else:
            new += changed
    report.count("people", read=len(plan.settings.people), new=new, odd=refused)
    _note_passwords(study, plan, report)


def restore_settings(study: Study, plan: StudyPlan) -> None:
    """What a study that moves here brings beside its contents."""
    state = plan.state or StudyState()
    if state.claim_minutes is not None:
        Study.objects.filter(pk=study.pk).update(claim_minutes=state.claim_minutes)
    for name in state.machines:
        find_or_create_identity(study, name, is_machine=True)
    for name in sorted(state.people):
        find_or_create_identity(study, name)
    study.members.filter(name__in=state.inactive).update(is_active=False)
    _restore_joining(study, state)
    for name, moment in state.opens_at.items():
        study.rounds.filter(name=name).update(opens_at=moment)
    _restore_unblinding(study, state)
    for round_name, queries in state.planned.items():
        for query_id, annotators in queries.items():
            RoundQuery.objects.filter(
                round__study=study, round__name=round_name, query__external_id=query_id
            ).update(annotators=annotators)


def _restore_joining(study: Study, state: StudyState) -> None:
    """Set since when people are in the study: how many "everybody" was when a round was closed is
    told from it. Of whom nothing is known, they were there before any round was closed."""
    if state.closed_rounds:
        study.members.update(created_at=min(state.closed_rounds.values()))
    for name, moment in state.joined.items():
        study.members.filter(name=name).update(created_at=moment)


def _restore_unblinding(study: Study, state: StudyState) -> None:
    """The moments of the file stand, also where giving the roles here has just made others."""
    members = dict(study.members.values_list("name", "pk"))
    rounds = dict(study.rounds.values_list("name", "pk"))
    Unblinding.objects.filter(member__study=study).delete()
    Unblinding.objects.bulk_create(
        (
            Unblinding(member_id=members[one.annotator], round_id=rounds[one.round], at=one.at)
            for one in state.unblinded
            if one.round in rounds
        ),
        ignore_conflicts=True,
    )


def _note_passwords(study: Study, plan: StudyPlan, report: ImportReport) -> None:
    names = [person.name for person in plan.settings.people]
    accounts = User.objects.filter(username__in=names).order_by("username")
    without = [account.username for account in accounts if not account.has_usable_password()]
    if without:
        report.note(
            plan.settings_file, f"without a password yet (set_password NAME): {', '.join(without)}"
        )
