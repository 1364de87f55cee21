"""Why a call is the first one of its kind, where no difference from another one is the cause."""

from collections.abc import Sequence

from ipyjaxbench.retracing.cache_key import Change

_FIRST = "first call"
FIRST = Change("first", new=_FIRST)
REDEFINED = Change("first", new=f"{_FIRST} after redefinition")
#: Of a call that was traced before, and is traced again.
DROPPED = Change("first", new="same signature as an earlier call, but caches were cleared")
#: Of a call that would be traced with any signature.
CLEARED = Change("first", new=f"{_FIRST} since caches were cleared")
#: Of a call that would be traced with any signature, and was not: that raised an error.
FAILED = Change("first", new=f"{_FIRST} since one that raised an error while it was traced")
#: Of a call that finds none of the programs that were made for other objects with the same code.
OWN = Change("first", new="first program of this object")
#: Of a call that differs from others, which nobody saw.
UNSEEN = Change("first", new="reason unknown: earlier traces were not observed")
#: What a trace that no call made is there for.
INSPECTED = Change(
    "first", new=f"{_FIRST}; already traced, as within another function or by %jaxpr"
)
#: The same of a function that has other traces.
FOUND = Change("first", new=INSPECTED.new.replace(_FIRST, f"{_FIRST} with this signature"))


def is_said_first(why: Sequence[Change]) -> bool:
    """Whether a reason says that no program was there before, and not what became of it."""
    return [each.kind for each in why] == ["first"] and why[0] not in (DROPPED, CLEARED, FAILED)
