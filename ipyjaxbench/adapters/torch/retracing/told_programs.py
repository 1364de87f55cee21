"""Which programs the log of traces tells of: their time is part of a call there.

Dynamo counts anew after `torch._dynamo.reset`, so that the latest program of a number counts.
"""

_told: set[tuple[str, bool]] = set()


def keep_told(number: object, *, backward: bool = False, told: bool) -> None:
    """Remember whether the log tells of a program, by dynamo's number of its forward pass."""
    (_told.add if told else _told.discard)((str(number), backward))


def is_told(number: object, *, backward: bool) -> bool:
    """Whether the log tells of it."""
    return (str(number), backward) in _told
