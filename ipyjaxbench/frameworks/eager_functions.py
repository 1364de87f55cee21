"""Which of the user's functions run as they stand, and can be looked into."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ipyjaxbench.frameworks.framework import Framework
from ipyjaxbench.frameworks.traversal import find_reach
from ipyjaxbench.usercode import ask, attribute, is_users_function, unwrap


def find_eager_functions(
    values: Iterable[object],
    frameworks: Sequence[Framework],
    compilers: Sequence[Callable[[object], bool]],
) -> Iterator[object]:
    """Yield the user's functions that values lead to, but those that a framework compiles.

    Args:
        values: what the names in the code stand for.
        frameworks: the adapters in play.
        compilers: say of a value whether a framework reads its code to compile it.
    """
    reach = find_reach(values, frameworks).functions
    compiled = [f for f in reach if any(ask(compiles, f) for compiles in compilers)]
    inside = find_reach(map(_unwrapped, compiled), frameworks).functions
    left_alone = {id(function) for function in inside}
    for function in reach:
        mine = is_users_function(function)
        if mine and id(function) not in left_alone:
            yield function


def _unwrapped(function: Any) -> object:
    inner = attribute(function, "_torchdynamo_orig_callable")
    if inner is not None:
        return inner
    return unwrap(function)
