"""Every signature with which functions were traced, as far as it was seen, in this process."""

import threading
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ipyjaxbench.retracing.cache_key import Change, Miss, Signature, closest

_MOST = 200  # signatures of one function that are kept
_NEWS = 1000
_NO_NAME = "<lambda>"
_FIRST = "first call"
#: Of a call that was traced before, and is traced again.
DROPPED = Change("first", new="as in an earlier call, whose trace was dropped: caches were cleared")
#: What a trace that nobody called for is there for.
_LOOKED_AT = Change("first", new=f"{_FIRST}; the trace was there, as %jaxpr and .lower leave it")


@dataclass(frozen=True)
class News:
    """A function was traced, or compiled again.

    Attributes:
        framework: whose function it is.
        name: of the function.
        why: in what its signature differs from the nearest one that was known.
        miss: what the framework told of the call; what it costs may still grow.
    """

    framework: str
    name: str
    why: tuple[Change, ...]
    miss: Miss


class Ledger:
    """Signatures by the framework and the name of the function.

    Attributes:
        news: what was learned last.
        learned: how much was learned in all.
    """

    def __init__(self) -> None:
        self.news: deque[News] = deque(maxlen=_NEWS)
        self.learned = 0
        self._here = threading.local()  # a thread in which somebody looks at each call
        self._known: defaultdict[tuple[str, str], list[Signature]] = defaultdict(list)

    def why(self, framework: str, name: str, new: Signature, *, placed: bool) -> list[Change]:
        """In what a signature differs from the nearest one of that function.

        Args:
            framework: whose function it is.
            name: of the function.
            new: the signature.
            placed: whether nothing was traced, so that only where arrays lie can have changed.

        Returns:
            The changes; "first" where the function was not seen before, or the trace that it had
            was dropped; none where nothing that we look at differs.
        """
        known = self._known.get((framework, name), [])
        alike = [each for each in known if each.code == new.code]
        if not alike:
            named = bool(known) and name != _NO_NAME  # many have none
            if placed:
                return [_LOOKED_AT]
            return [Change("first", new=_FIRST + named * " of a new definition")]
        mine = [each for each in alike if each.function == new.function]
        if new in mine and not placed:
            return [DROPPED]
        return closest(new, mine or alike, placed=placed and bool(mine))

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Learn nothing from this thread meanwhile: somebody looks at the call."""
        before = getattr(self._here, "paused", False)
        self._here.paused = True
        try:
            yield
        finally:
            self._here.paused = before

    def learn(self, framework: str, miss: Miss) -> None:
        """Keep the signature of a call that nobody looks at, and why it was not cached."""
        if getattr(self._here, "paused", False):
            return
        why = self.why(framework, miss.name, miss.signature, placed=miss.placed)
        if miss.otherwise and why in ([], [DROPPED]):
            why = [*miss.otherwise]
        if miss.placed and not why:
            return  # a part of what was told
        self.add(framework, miss.name, miss.signature)
        self.learned += 1
        self.news.append(News(framework, miss.name, tuple(why), miss))

    def since(self, learned: int) -> list[News]:
        """What was learned after so much, as far as it is kept."""
        count = min(self.learned - learned, len(self.news))
        return [*self.news][len(self.news) - count :]

    def add(self, framework: str, name: str, signature: Signature) -> None:
        """Keep a signature."""
        known = self._known[framework, name]
        if signature not in known:
            known.append(signature)
            del known[:-_MOST]

    def of(self, framework: str, name: str) -> Sequence[Signature]:
        """All signatures of a function, the oldest first."""
        return tuple(self._known.get((framework, name), ()))

    def forget(self) -> None:
        """Begin anew."""
        self._known.clear()

    def names(self) -> list[tuple[str, str]]:
        """Frameworks and names of all functions, in the order in which they were seen."""
        return [*self._known]


#: What this process has seen.
LEDGER = Ledger()
