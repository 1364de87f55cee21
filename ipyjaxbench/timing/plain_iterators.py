"""Iterators of libraries that show where they are: `haiku.PRNGSequence`, readers of files."""

import gc
from collections import deque
from collections.abc import Iterator, Sequence

from ipyjaxbench.frameworks import Framework, is_readable, is_unreadable
from ipyjaxbench.usercode import (
    attributes,
    is_exactly,
    is_of,
    items_of,
    module_of,
    slots,
    solid_base,
)

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


def is_reader_of_file(value: object) -> bool:
    """Whether it is a `csv.reader` that is where the file is that it reads."""
    held = [each for each in gc.get_referents(value) if is_of(each, Iterator)]
    is_known = not any(is_readable(each) or is_unreadable(each) for each in held)
    return module_of(type(value)) == "_csv" and bool(held) and is_known
