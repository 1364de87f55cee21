"""What to write so that a function is not traced again."""

from collections.abc import Sequence

from ipyjaxbench.adapters.shared.retracing import (
    advise,
    defining,
    is_gone,
    is_number,
    is_of_class,
    renewing,
)
from ipyjaxbench.retracing import Change

_OF_FUNCTIONS = {
    "function": "Call tf.function once and reuse its result: each new {name} object is traced"
                " again",
    "captured": "Pass {path} to {name} as an argument: captured values are baked into the trace",
    "object": "Call {name} on the same object: TensorFlow traces it again for each new one",
    "type": "Always pass {path} as the same type (for instance with `tf.constant`)",
    "shape": "Use `@tf.function(reduce_retracing=True)`, or an `input_signature` with None where"
             " the shape of {path} varies",
    "shape for XLA": "Use fewer distinct shapes: pad {path} to a fixed multiple (for instance with"
                     " `tf.pad`). XLA compiles each shape",
    "rank": "Always pass {path} with the same number of axes",
    "dtype": "Always pass {path} with the same dtype: `tf.cast(...)` before the call",
    "layout": "Always pass {path} with the same ragged_rank and row_splits_dtype",
    "number": "Pass {path} as a tensor (`tf.constant(...)`): each new Python number is traced"
              " again",
    "static value": "Each new value of {path} needs its own trace: use few, and create objects"
                    " once",
    "setting": "Always call {name} in the same scope",
    "stale": "Pass {path} to {name} as an argument, or {again}",
    "structure": "Keep the same keys and lengths in every call",
    "class": "Pass {path} as the same class in every call: each class needs its own trace",
}  # fmt: skip
_OF_MODELS = {
    "function": "Call compile() on the model once: it resets and retraces the model's functions",
    "object": "Build the model once: each new object is traced again",
    "stale": "Call compile() on the model again: what was traced before is kept until then",
    **{kind: _OF_FUNCTIONS[kind] for kind in ("type", "dtype", "rank", "structure", "class")},
}


def fixes(
    name: str, why: Sequence[Change], *, again: str, relaxed: bool, xla: bool
) -> tuple[str, ...]:
    """Return what to write, by what changed in calls of this function.

    Args:
        name: of the function.
        why: what changed.
        again: what to do so that its definition runs again.
        relaxed: whether a trace of it takes several shapes already.
        xla: whether XLA may compile it.
    """
    texts = _OF_MODELS if "." in name else _OF_FUNCTIONS  # as in "Sequential.fit"
    of_gone, why = defining(name, why), [each for each in why if not is_gone(each)]
    kinds = ((_kind(each, relaxed=relaxed, xla=xla), path) for each in why for path in each.paths())
    told = ((texts[kind].replace("{again}", again), path) for kind, path in kinds if kind in texts)
    return (*of_gone, *advise(name, told), *renewing(why))


def _kind(change: Change, *, relaxed: bool, xla: bool) -> str:
    if change.kind == "shape":
        return "shape for XLA" if xla else "" if relaxed else "shape"
    if change.kind == "static value" and change.path == "self":
        return "object"
    if change.kind == "static value" and is_number(change.old) and is_number(change.new):
        return "number"
    return "class" if is_of_class(change) else change.kind
