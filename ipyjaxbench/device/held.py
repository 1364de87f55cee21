"""Who still holds arrays: bytes, the way that leads to them, and what to type to let go."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from ipyjaxbench.record_types import NonNegativeInt, PositiveInt
from ipyjaxbench.reports import Result

Kind = Literal[
    "output",
    "traceback",
    "error",
    "graph",
    "gradient",
    "optimizer",
    "closure",
    "generator",
    "cache",
    "name",
]


@dataclass(frozen=True)
class Holder:
    """One thing that keeps arrays alive.

    Attributes:
        kind: what it is: IPython's output, the last traceback, that of an error with a name, an
            autograd graph, gradients, an optimizer, a function's closure, a generator's frame, a
            cache, or a name of the session.
        path: the path to its array, or to where its arrays begin, such as "Out[7]['loss']".
        arrays: how many it holds.
        nbytes: bytes of their memory; shared memory counts once.
        alone: bytes of that memory that no other holder keeps alive.
        also: another holder, which keeps the rest alive; empty if there is none.
        let_go: what to type to let go of it.
    """

    kind: Kind
    path: str
    arrays: PositiveInt
    nbytes: NonNegativeInt
    alone: NonNegativeInt
    also: str
    let_go: str


@dataclass(frozen=True, repr=False)
class Held(Result):
    """What holds arrays beside the names of the session.

    Attributes:
        holders: the holders that were found, the one that holds most alone first.
        named: bytes that names of the session lead to.
        releasable: bytes that come free when IPython and the last traceback let go.
        elsewhere: count and bytes of arrays that frameworks list but the search did not find.
        unexplained: bytes in use that belong to no array in Python, by device.
        unseen: names whose values keep arrays where Python cannot see them.
        released: what was let go of; empty if that was not asked for.
        freed: bytes that came free when they were let go of.
        frameworks: versions of the frameworks that were asked.
    """

    kind: ClassVar[str] = "held"

    holders: tuple[Holder, ...]
    named: NonNegativeInt = 0
    releasable: NonNegativeInt = 0
    elsewhere: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    unexplained: Mapping[str, int] = field(default_factory=dict)
    unseen: tuple[str, ...] = ()
    released: tuple[str, ...] = ()
    freed: NonNegativeInt = 0
    frameworks: Mapping[str, str] = field(default_factory=dict)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each holder; sizes in bytes."""
        return [
            {
                "held_by": each.path,
                "kind": each.kind,
                "arrays": each.arrays,
                "size_bytes": each.nbytes,
                "alone_bytes": each.alone,
                "let_go": each.let_go,
            }
            for each in self.holders
        ]

    def __repr__(self) -> str:
        """One line."""
        return f"<Held {len(self.holders)} holders, {sum(h.alone for h in self.holders)} bytes>"
