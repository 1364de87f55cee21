"""Which functions and datasets draw random numbers by kernels, which keep how many they drew.

Such a state can be neither read nor set. Where no seed was set, nobody can tell which were drawn.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from ipyjaxbench.usercode import attributes, module_of

_MOST = 50_000  # operations that are looked at
_SEEDS = ("seed", "seed2")


def draws_from_seed(function: Any) -> bool:
    """Whether one of the graphs that `tf.function` has made so far draws from a seed."""
    graphs = deque(_graphs_of(function))
    left = _MOST
    while graphs and left > 0:
        graph = graphs.popleft()
        for operation in graph.get_operations():
            left -= 1
            if operation.type.startswith("Random") and _has_seed(operation):
                return True
        graphs += _graphs_called_in(graph)
    return False


def _graphs_of(function: Any) -> Iterator[Any]:
    if not module_of(type(function)).startswith("tensorflow"):
        return
    # Private, all of it. A method has a function of its own for each object.
    for each in (function, *getattr(function, "_descriptor_cache", {}).values()):
        made = getattr(each, "_function_cache", None)  # None before the first trace
        yield from (concrete.graph for concrete in (made.values() if made is not None else ()))


def _has_seed(operation: Any) -> bool:
    known = {each.name for each in operation.op_def.attr}
    return any(name in known and operation.get_attr(name) != 0 for name in _SEEDS)


def _graphs_called_in(graph: Any) -> Iterator[Any]:
    called = getattr(graph, "_functions", {}).values()  # private; bodies of loops, too
    yield from filter(None, (getattr(each, "graph", None) for each in called))


def _seeds_of(held: dict[str, Any]) -> Iterator[int]:
    seeds: list[Any] = [held.get(name) for name in ("_seed", "_seed2")]
    # In a graph a seed has no value yet.
    yield from (int(each.numpy()) for each in seeds if hasattr(each, "numpy"))


def shuffles_anew(dataset: Any) -> bool:
    """Whether a dataset is in another order in each pass, by a seed."""
    left = [dataset]
    while left:
        each = left.pop()
        own = attributes(each)
        if own.get("_reshuffle_each_iteration") and any(_seeds_of(own)):
            return True
        left += (input_ for input_ in each._inputs() if issubclass(type(input_), tf.data.Dataset))
    return False
