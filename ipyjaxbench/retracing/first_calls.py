"""Why a call is the first one of its kind, where no difference from another one is the cause."""

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
#: What a trace that no call made is there for.
INSPECTED = Change(
    "first", new=f"{_FIRST}; already traced, as within another function or by %jaxpr"
)
