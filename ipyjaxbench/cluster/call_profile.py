"""What became of each call in a rank, in one word, and the calls in which ranks differ."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ipyjaxbench.retracing import COMPILED, COSTLY, TRACED, TracedCall, Traces

#: State -> what became of the call; in the order in which it is told.
WORDS = {
    **dict.fromkeys(TRACED, "traced"),
    **dict.fromkeys(COMPILED, "compiled"),
    **dict.fromkeys(("CACHED", "SLOW-PATH"), "cached"),
    **dict.fromkeys(("BYPASSED", "EAGER-FALLBACK"), "not compiled"),
    "RAISED": "raised",
    "WOULD-TRACE": "would be traced",
    "WOULD-COMPILE": "would be compiled",
    "WOULD-HIT": "would be cached",
    "?": "unknown",
}
#: The same -> what a rank did with the call.
_DEEDS = {
    "traced": "traced {}",
    "compiled": "compiled {}",
    "cached": "took {} from the cache",
    "not compiled": "ran {} uncompiled",
    "raised": "raised an exception in {}",
    "would be traced": "would trace {}",
    "would be compiled": "would compile {}",
    "would be cached": "would take {} from the cache",
    "unknown": "may have compiled {}",
    "": "did not make {}",
}
_USUAL = ("cached", "would be cached")  # calls that need no line of their own
_ENDINGS = ("raised", "")  # where code ended early, no difference but its consequence
#: Of a call that differs, what is to be looked into first.
_GRAVEST = ("raised", "traced", "compiled", "would be traced", "would be compiled",
             "not compiled", "unknown")  # fmt: skip

Key = tuple[str, str, int, int]  # framework, function, number, and which one of that number


class CallProfile:
    """What became of the calls of one rank.

    Args:
        traces: its calls.

    Attributes:
        calls: those that were not cached.
        places: of these, how many calls were made before.
        counts: number of calls by what became of them, a word of `WORDS`.
        made: number of calls of each function, by its framework and name.
        ended: whether an error or an interrupt ended the code: what came next is not known.
    """

    def __init__(self, traces: Traces) -> None:
        self.ended = bool(traces.error)
        self.calls: dict[Key, TracedCall] = {}
        self.places: dict[Key, int] = {}
        self.counts: Counter[str] = Counter()
        self.made: Counter[tuple[str, str]] = Counter()
        seen: Counter[tuple[str, str, int]] = Counter()
        made = 0
        for call in traces.calls:
            word = WORDS[call.state]
            self.counts[word] += call.times
            self.made[call.framework, call.name] += call.times
            if word not in _USUAL:
                place = call.framework, call.name, call.number
                key = *place, seen[place]
                self.calls[key], self.places[key] = call, made
                seen[place] += 1
            made += call.times

    @cached_property
    def key(self) -> object:
        """What is equal in ranks whose calls fared alike, whatever they took."""
        told = frozenset((key, WORDS[call.state]) for key, call in self.calls.items())
        return self.ended, told, frozenset(self.made.items()), frozenset(self.counts.items())

    @property
    def seconds(self) -> float:
        """Seconds that tracing and compiling took; with the run where that is all one knows."""
        return sum(cost_of(call) for call in self.calls.values())

    def word(self, key: Key) -> str:
        """Return what became of a call; "" where it was not made."""
        if call := self.calls.get(key):
            return WORDS[call.state]
        framework, name, number, again = key
        if again or number > self.made[framework, name]:
            return ""
        return "would be cached" if self.counts["would be cached"] else "cached"


@dataclass(frozen=True)
class DifferingCall:
    """A call that did not fare alike in all ranks.

    Attributes:
        function: its name.
        number: which call of this function, counted from 1.
        key: of the call in the profiles of ranks.
        groups: the places of ranks by what became of the call, the fewest first.
    """

    function: str
    number: int
    key: Key
    groups: tuple[tuple[str, tuple[int, ...]], ...]

    @property
    def shown(self) -> int:
        """The place of the rank to look into: the first of those that fared worst."""
        grave = [group for word in _GRAVEST for group in self.groups if group[0] == word]
        return [*grave, *self.groups][0][1][0]

    def deed(self, word: str, *, named: bool = True) -> str:
        """Return what ranks did with the call.

        Args:
            word: what became of it there.
            named: whether the call is to be named, or was named before.

        Example:
            >>> DifferingCall("step", 3, ("jax", "step", 3, 0), ()).deed("traced")
            'traced call 3 of step'
        """
        return _DEEDS[word].format(f"call {self.number:,} of {self.function}" if named else "it")


def cost_of(call: TracedCall) -> float:
    """Return the seconds that tracing and compiling took in a call; else all, where it did so."""
    return sum(call.phases.values()) or (call.seconds if call.state in COSTLY else 0.0)


def find_differing_calls(profiles: Sequence[CallProfile]) -> Iterator[DifferingCall]:
    """Yield calls that did not fare alike in all ranks, in the order in which they were made."""
    alike: dict[object, list[int]] = {}
    for place, profile in enumerate(profiles):
        alike.setdefault(profile.key, []).append(place)
    if len(alike) < 2:
        return
    several = [profiles[places[0]] for places in alike.values()]
    for key in _keys(several):
        groups: dict[str, list[int]] = {}
        for profile, places in zip(several, alike.values(), strict=True):
            word = profile.word(key)
            if not (profile.ended and word in _ENDINGS):
                groups.setdefault(word, []).extend(places)
        if len(groups) > 1:
            ordered = sorted(groups.items(), key=lambda group: (len(group[1]), group[0] in _USUAL))
            told = tuple((word, tuple(sorted(places))) for word, places in ordered)
            yield DifferingCall(key[1], key[2], key, told)


def _keys(profiles: Sequence[CallProfile]) -> list[Key]:
    """Return the calls in which profiles may differ, in the order in which they were made."""
    order: dict[Key, int] = {}
    for profile in profiles:
        for key, place in profile.places.items():
            order[key] = min(place, order.get(key, place))
    end = max(order.values(), default=0) + 1
    functions = dict.fromkeys(function for profile in profiles for function in profile.made)
    for function in functions:  # the first call that a rank did not make
        made = {profile.made[function] for profile in profiles}
        if len(made) > 1:
            order.setdefault((*function, min(made) + 1, 0), end)
    return sorted(order, key=order.__getitem__)
