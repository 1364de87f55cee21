"""What to write so that a function is not traced again."""

from ast import literal_eval
from collections.abc import Sequence

from ipyjaxbench.adapters.shared.retracing import advise
from ipyjaxbench.retracing import Change

_OF_FUNCTIONS = {
    "function": "{name} = tf.function(...) once, above: each new one is traced anew",
    "captured": "give {path} to {name} as an argument: what it captures is part of its trace",
    "object": "call {name} on the same object: TensorFlow traces it for each anew",
    "type": "give {path} always as the same type, as in tf.constant(...)",
    "shape": "@tf.function(reduce_retracing=True), or an input_signature with None where the shape"
             " of {path} varies",
    "shape for XLA": "few shapes: pad {path}, as in tf.pad: XLA compiles for each",
    "rank": "few ranks: give {path} always with as many axes",
    "dtype": "give {path} always with the same dtype: tf.cast(...) before the call",
    "number": "tf.constant(...) for {path}, where the function takes a tensor: each new Python"
              " number is traced anew",
    "static value": "one trace for each value of {path}: keep them few, and build them once",
    "setting": "call {name} always in the same scope",
    "structure": "keep the same keys and lengths in each call",
}  # fmt: skip
_OF_MODELS = {
    "function": "compile(...) the model once: it makes and traces its functions anew",
    "object": "build the model once: each object is traced anew",
    **{kind: _OF_FUNCTIONS[kind] for kind in ("type", "dtype", "rank", "structure")},
}


def fixes(name: str, why: Sequence[Change], *, relaxed: bool, xla: bool) -> tuple[str, ...]:
    """Return what to write, by what changed in calls of this function.

    A trace of it takes several shapes already where it is `relaxed`; `xla` may compile it.
    """
    texts = _OF_MODELS if "." in name else _OF_FUNCTIONS  # as in "Sequential.fit"
    kinds = ((_kind(change, relaxed=relaxed, xla=xla), change.path) for change in why)
    return advise(name, ((texts[kind], path) for kind, path in kinds if kind in texts))


def _kind(change: Change, *, relaxed: bool, xla: bool) -> str:
    if change.kind == "shape":
        return "shape for XLA" if xla else "" if relaxed else "shape"
    if change.kind == "static value" and change.path == "self":
        return "object"
    if change.kind == "static value" and _is_number(change.old) and _is_number(change.new):
        return "number"
    return change.kind


def _is_number(text: str) -> bool:
    """Whether a value in Python's words is a number, and no truth value."""
    try:
        return type(literal_eval(text)) in (int, float, complex)
    except (ValueError, SyntaxError):
        return False
