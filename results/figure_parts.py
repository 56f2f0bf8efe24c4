"""The small objects that pages show of a stored report; `results.figures` makes them."""

from collections.abc import Sequence
from dataclasses import dataclass

from results import wording
from results.asked_labels import UNSURE, AskedLabel, Link
from results.findings import Diagnosis
from results.heat import HeatRow, read_heat

Bounds = tuple[float, float] | None

# Twenty people are 190 twos: the overview names those that agree least.
SHOWN_TWOS = 10


@dataclass(frozen=True, slots=True)
class Mark:
    """A value with its interval on an axis of 100 units, as attributes of an SVG."""

    value: str
    low: str
    width: str


@dataclass(frozen=True, slots=True)
class LabelShare:
    grade: str
    name: str
    count: int
    share: float | None
    link: Link


@dataclass(frozen=True, slots=True)
class KappaEntry:
    """Two annotators on the pairs both labelled; `value` None goes with a `reason`."""

    a: str
    b: str
    pairs: int
    observed: float | None
    expected: float | None
    value: float | None
    linear: float | None
    quadratic: float | None
    interval: Bounds
    linear_interval: Bounds
    quadratic_interval: Bounds
    interval_reason: str
    band: str
    reason: str
    grades: Sequence[str]
    confusion: Sequence[Sequence[int]]
    mark: Mark | None

    @property
    def heat(self) -> list[HeatRow]:
        """The confusion matrix, made when it is shown: of many twos a page shows few."""
        return read_heat(self.confusion, self.grades, (self.a, self.b))

    @property
    def between(self) -> Link:
        """The two, as the address of their pairs names them."""
        return (("annotator", self.a), ("annotator", self.b))

    @property
    def link(self) -> Link:
        """The splits between the two, as an address asks for them; empty where there is none."""
        return () if self.observed in {None, 1.0} else self.between

    @property
    def named(self) -> Link:
        """The two, as the address of their picture names them."""
        return (("a", self.a), ("b", self.b))


@dataclass(frozen=True, slots=True)
class AlphaEntry:
    level: str
    value: float | None
    interval: Bounds
    interval_reason: str
    pairs: int
    band: str
    reason: str

    @property
    def is_reliable(self) -> bool:
        return self.value is not None and self.value >= wording.RELIABLE


@dataclass(frozen=True, slots=True)
class ClassEntry:
    """A query class against the rest; the marks share one axis, from 0 to the page's `axis`."""

    name: str
    pairs: int
    splits: int
    rate: float | None
    interval: Bounds
    rest_pairs: int
    rest_splits: int
    rest_rate: float | None
    rest_interval: Bounds
    fisher_p: float | None
    mark: Mark | None
    rest_mark: Mark | None
    verdict: str
    tag: str
    link: Link

    @property
    def rest_link(self) -> Link:
        """The splits outside of the class."""
        return (*self.link, ("elsewhere", "1")) if self.link else ()


@dataclass(frozen=True, slots=True)
class DimensionEntry:
    name: str
    citations: int
    splits: int
    share_of_splits: float | None

    @property
    def link(self) -> Link:
        return (("dimension", self.name),)

    @property
    def cited(self) -> Link:
        """The pairs with a label that cites it, split or not."""
        return AskedLabel(dimension=self.name).link


@dataclass(frozen=True, slots=True)
class DirectionEntry:
    a: str
    b: str
    query_class: str
    pairs: int
    a_higher: int
    b_higher: int
    link: Link


@dataclass(frozen=True, slots=True)
class AnnotatorEntry:
    name: str
    is_machine: bool
    judgments: int
    unsure: int
    active_seconds: float | None
    timed: int
    not_blind: int
    labels: Sequence[LabelShare]

    @property
    def link(self) -> Link:
        """The splits of the pairs that this one labelled; a machine's are not among them."""
        return () if self.is_machine else (("annotator", self.name),)

    @property
    def judged(self) -> Link:
        """All that this one labelled, unsure or not."""
        return () if self.is_machine else AskedLabel(self.name).link

    @property
    def left_unsure(self) -> Link:
        return () if self.is_machine else AskedLabel(self.name, UNSURE).link


@dataclass(frozen=True, slots=True)
class FinalCounts:
    """Final labels of the study: `share` is that of the dropped pairs in the pool, `level` says
    whether it is to be warned of."""

    graded: int
    dropped: int
    share: float | None
    level: str


@dataclass(frozen=True, slots=True)
class TargetOutcome:
    """The target of agreement with its outcome: `met` is None where nobody has a kappa yet.
    `judged` twos have one, of which `failing` miss the target, and `undefined` have none."""

    weights: str
    at_least: float
    met: bool | None
    failing: int
    judged: int
    undefined: int
    queries: Sequence[str]


@dataclass(frozen=True, slots=True)
class MainCause:
    """The most frequent of the causes that come back, among settled pairs whose cause is named."""

    name: str
    pairs: int
    total: int

    @property
    def share(self) -> float:
        return self.pairs / self.total


@dataclass(frozen=True, slots=True)
class ReadingCounts:
    """Labels of a class at one grade under either reading of its splits."""

    grade: str
    lower: int
    higher: int


@dataclass(frozen=True, slots=True)
class ThirdVote:
    """A class with a hole, and what its labels would be if a third vote joined every split that
    it can settle."""

    name: str
    queries: int
    pairs: int
    splits: int
    settled: int
    dropped: int
    dropped_share: float | None
    dropped_level: str
    labels: Sequence[ReadingCounts]


@dataclass(frozen=True, slots=True)
class Figures:
    """A whole report. `axis` is the upper end of the axis of split rates, a share; `not_blind` is
    a sentence, "" where every judgment was given blind."""

    diagnosis: Diagnosis
    sentence: str
    beside: Sequence[str]
    not_blind: str
    queries: int
    queries_fully_judged: int
    pairs: int
    pairs_labelled: int
    pairs_labelled_twice: int
    judgments: int
    unsure: int
    splits: int
    active_seconds: float | None
    timed: int
    raw_agreement: float | None
    comparisons: int
    raw_reason: str
    ac1: float | None
    ac1_reason: str
    ac1_interval: Bounds
    ac1_interval_reason: str
    labels: Sequence[LabelShare]
    alphas: Sequence[AlphaEntry]
    kappas: Sequence[KappaEntry]
    machine_kappas: Sequence[KappaEntry]
    classes: Sequence[ClassEntry]
    axis: float
    dimensions: Sequence[DimensionEntry]
    citations: str
    directions: Sequence[DirectionEntry]
    annotators: Sequence[AnnotatorEntry]
    rounds: Sequence[str]
    rubric_version: int | None
    final: FinalCounts | None = None
    target: TargetOutcome | None = None
    third_votes: Sequence[ThirdVote] = ()
    is_over_time: bool = False
    seconds_per_pair: float | None = None
    timed_pairs: int = 0
    main_cause: MainCause | None = None

    @property
    def alpha(self) -> AlphaEntry:
        return self.alphas[0]

    @property
    def split_rate(self) -> float | None:
        return self.splits / self.pairs_labelled_twice if self.pairs_labelled_twice else None

    @property
    def shared_kappas(self) -> Sequence[KappaEntry]:
        """Those who share a pair, the least agreeing first."""
        shared = [entry for entry in self.kappas if entry.pairs]
        return sorted(shared, key=lambda entry: (entry.value is None, entry.value or 0.0))

    @property
    def reads_apart(self) -> bool:
        """Whether a κ reads as substantial or better beside an α that reads as unreliable: the two
        scales ask for different values, and the page says so."""
        value = self.alpha.value
        kappas = [entry.value for entry in self.shared_kappas if entry.value is not None]
        is_low = value is not None and value < wording.TENTATIVE
        return is_low and max(kappas, default=0.0) > wording.SUBSTANTIAL

    @property
    def twos(self) -> Sequence[KappaEntry]:
        """Every two people, the least agreeing first, those who share nothing at the end."""
        return [*self.shared_kappas, *(entry for entry in self.kappas if not entry.pairs)]

    @property
    def first_twos(self) -> Sequence[KappaEntry]:
        """Those that a page which only leads on has room for."""
        return self.twos[:SHOWN_TWOS]

    @property
    def is_empty(self) -> bool:
        return not self.judgments
