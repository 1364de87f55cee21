"""In what the batches differ for which Keras traced a model's method last."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ipyjaxbench.adapters.tensorflow.retracing.cache_key import leaves_of_trace
from ipyjaxbench.adapters.tensorflow.retracing.model_code import latest_traces, traces_of
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import Change, Leaf

#: Of what the functions that Keras makes are called with, the batch, and which part of it.
_BATCH = re.compile(r"(?:iterator\.element_spec|data(?:\[0\](?=\[))?)(?:\[(\d)\])?")
_PARTS = ("x", "y", "sample_weight")


def count_traces(method: Any) -> int:
    """Return how often what a method runs was traced; 0 where it was not, or that is not known."""
    try:
        return len(traces_of(method)[1])
    except CODE_ERRORS:  # there is none yet, or another version makes it in another way
        return 0


def causes_of_trace(method: Any, before: int) -> tuple[Change, ...]:
    """Return in what the last trace differs from the nearest one of the first `before`.

    The arguments of a call do not tell that: how they are cut into batches does. Nothing where
    there was none, or it is not known.
    """
    try:
        function, traces = traces_of(method)
        old, new = (
            [_batch(leaves_of_trace(function, each)) for each in latest_traces(some)]
            for some in (traces[:before], traces[before:])
        )
    except CODE_ERRORS:  # another version makes it in another way
        return ()
    differences = [tuple(_changes(each, new[-1])) for each in old if new]
    return min(differences, key=len, default=())


def _batch(leaves: Mapping[str, Leaf]) -> dict[str, Leaf]:
    return {_BATCH.sub(_name, path, count=1): leaf for path, leaf in leaves.items() if leaf.dtype}


def _name(found: re.Match[str]) -> str:
    return f"{_PARTS[int(found[1] or 0)]} of a batch"


def _changes(old: Mapping[str, Leaf], new: Mapping[str, Leaf]) -> Iterator[Change]:
    for path in {**old, **new}:
        before, after = old.get(path), new.get(path)
        if before is None or after is None:
            yield Change("structure", path, "", "was added" if after else "was removed")
        elif before != after:
            kind = "shape" if before.dtype == after.dtype else "dtype"
            yield Change(kind, path, before.words(), after.words())
