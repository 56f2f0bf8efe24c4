"""The order in which an annotator meets queries and documents.

A keyed hash (BLAKE2b, RFC 7693) of study seed, round, annotator and item: repeatable, different
for each annotator, and without a trace of rank or import order. Nothing here knows Django or the
database; ids are opaque strings.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

KEY_SIZE = 64


@dataclass(frozen=True, slots=True)
class Shuffler:
    """Orders items for one annotator in one round. `seed` is the study's secret."""

    seed: str
    round_id: str
    annotator_id: str

    def weigh(self, item: str) -> bytes:
        """Return the 16 bytes by which `item` is sorted."""
        digest = blake2b(digest_size=16, key=self.seed.encode()[:KEY_SIZE])
        for part in (self.round_id, self.annotator_id, item):
            encoded = part.encode()
            digest.update(len(encoded).to_bytes(4, "big"))
            digest.update(encoded)
        return digest.digest()

    def shuffle(self, items: Iterable[str]) -> list[str]:
        """Return the items in this annotator's order."""
        return sorted(items, key=self.weigh)

    def order_queries(self, items: Iterable[str], overlap: frozenset[str]) -> list[str]:
        """Return the items shuffled, with the overlap spread evenly and one of it first.

        `overlap` holds the items that more annotators share than the others: met early and all
        along, they give agreement soon and let drift be seen later.
        """
        shuffled = self.shuffle(items)
        shared = [item for item in shuffled if item in overlap]
        rest = [item for item in shuffled if item not in overlap]
        return spread(shared, rest)


def spread(shared: Sequence[str], rest: Sequence[str]) -> list[str]:
    """Merge two sequences, each in its order, so that `shared` is evenly placed and comes first.

    The i-th of n shared items stands at the share i/n of the way through.
    """
    placed = [(index / len(shared), 0, index, item) for index, item in enumerate(shared)]
    placed += [((index + 0.5) / len(rest), 1, index, item) for index, item in enumerate(rest)]
    return [item for *_, item in sorted(placed)]
