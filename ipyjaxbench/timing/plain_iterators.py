"""Iterators of libraries that keep all that they are in attributes, as `haiku.PRNGSequence`."""

from collections import deque
from collections.abc import Sequence

from ipyjaxbench.frameworks import Framework
from ipyjaxbench.usercode import attributes, is_exactly, items_of, slots, solid_base

_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_SEVERAL = (list, tuple, dict, deque)
_MOST = 100  # values that are looked at


def holds_plain_values(value: object, frameworks: Sequence[Framework]) -> bool:
    """Whether an iterator in Python holds numbers, texts and arrays that never change alone."""
    ahead: list[object] = [*attributes(value).values(), *slots(value).values()]
    looked_at = 0
    while ahead and looked_at < _MOST:
        each = ahead.pop()
        looked_at += 1
        if is_exactly(each, *_SEVERAL):
            ahead += items_of(each, 0)
        elif not is_exactly(each, *_PLAIN) and not any(
            f.immutable and f.owns(type(each)) for f in frameworks
        ):
            return False
    return not ahead and bool(looked_at) and solid_base(type(value)) is object
