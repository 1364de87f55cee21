"""How many objects a walk looks at, and which it has seen."""

from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable, Sequence

from ipyjaxbench.frameworks.framework import Framework
from ipyjaxbench.usercode import ask, module_of

#: So many containers take about half a second. A model of a thousand parameters is an eighth.
MOST = 100_000
#: A value of a framework, and other objects, take so many times as long as a container.
_OF_FRAMEWORK, _OTHER = 2, 5
_KINDS = (list, set, deque, dict, OrderedDict, defaultdict, tuple, frozenset)
#: By identity: a metaclass may define equality.
_CONTAINERS = frozenset(map(id, _KINDS))


class Looks:
    """Counts objects by what looking at them takes, not by a clock: the same on any machine.

    Args:
        most: containers that are looked at, or fewer other objects.
        frameworks: their values count for less than other objects.
    """

    def __init__(self, most: int, frameworks: Sequence[Framework]) -> None:
        self._most, self._taken = most, 0
        self._frameworks = [each for each in frameworks if each.module != "builtins"]
        self._costs: dict[int, int] = {}  # by a class's identity, as above
        self._seen: dict[int, object] = {}  # held, so that no other gets their identity

    def half(self) -> int:
        """Return where one object with many parts ends: it leaves as much to the others."""
        return (self._most + self._taken + 1) // 2

    def has(self, value: object) -> bool:
        """Whether it was looked at."""
        return id(value) in self._seen

    def take(self, value: object, most: int) -> bool:
        """Whether there is room for one more; it is seen and counted then."""
        if self._taken >= most:
            return False
        self._seen[id(value)] = value
        kind = type(value)
        if id(kind) not in self._costs:
            self._costs[id(kind)] = self._cost(kind)
        self._taken += self._costs[id(kind)]
        return True

    def _cost(self, kind: type) -> int:
        if id(kind) in _CONTAINERS:
            return 1
        package = module_of(kind).partition(".")[0]
        theirs = any(f.module == package or ask(f.owns, kind) for f in self._frameworks)
        return _OF_FRAMEWORK if theirs else _OTHER

    def leave_out(self, values: Iterable[object]) -> None:
        """Have these be as if they were seen."""
        self._seen |= {id(each): each for each in values}
