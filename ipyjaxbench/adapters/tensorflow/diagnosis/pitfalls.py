"""The ways in which code fails to trace: what is wrong, and what helps."""

import re
from collections.abc import Sequence

from ipyjaxbench.adapters.shared.diagnosis.describe import find_pitfalls
from ipyjaxbench.graphs import Pitfall

_MESSAGE_CHARACTERS = 100  # characters of a message of which the first sentence is enough
PLACE = re.compile(r'File "([^"]+)", line (\d+)')
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_SAYS_NOTHING = re.compile(
    r"Exception encountered when calling|in user code:|Arguments received by"
)
_ONLY_SHAPES = "but during tracing only shapes and dtypes are known."
_LEAKED = "Return the tensor instead of storing it, or store it in a tf.Variable."


# fmt: off
_PITFALLS = (
    Pitfall(("NotImplementedError",), "numpy array|NumPy",
        f"NumPy needs concrete values, {_ONLY_SHAPES}",
        "Use the tf function of the same name, or tf.numpy_function.", asks=True),
    Pitfall(("OperatorNotAllowedInGraphError",), "Python `bool`",
        f"Python's control flow needs the value of a condition, {_ONLY_SHAPES}",
        "Use tf.where or tf.cond instead of if, and tf.while_loop instead of while, or remove"
        " autograph=False.", asks=True),
    Pitfall(("OperatorNotAllowedInGraphError",), "Iterating",
        "A comprehension, list() or unpacking iterates over a tensor in Python, which AutoGraph"
        " does not convert.",
        "Use tf.map_fn(f, x), or tf.unstack(x) if its length is fixed.", asks=True),
    Pitfall(("TypeError",),
        r"interpreted as an integer|indices must be integers|sequence of integers",
        f"range(), an index or a shape needs a concrete integer, {_ONLY_SHAPES}",
        "Use tf.range(n) and tf.while_loop, tf.gather to index a list, or pass a Python number.",
        asks=True),
    Pitfall(("TypeError", "AttributeError"),
        r"__int__|__float__|__index__|real number, not|a string, a bytes-like object or",
        f"A Python number needs a concrete value, {_ONLY_SHAPES}",
        "Use tf.cast(x, tf.int32).", asks=True),
    Pitfall(("AttributeError",), r"no attribute '(numpy|item|tolist)'",
        f"numpy(), item() and tolist() need concrete values, {_ONLY_SHAPES}",
        "Remove the call, and compute with tf functions.", asks=True),
    Pitfall(("TypeError",), "does not support item assignment",
        "Tensors are immutable; only variables can be assigned to.",
        "Use tf.tensor_scatter_nd_update(x, indices, updates), or tf.where."),
    Pitfall(("VariableMadeError", "ValueError"),
        r"^a tf\.Variable is created|singleton tf\.Var|[Cc]reating variables on a non-first call",
        "The code creates a tf.Variable, which a tf.function may do only in its first call; tracing"
        " it here would create one too.",
        "Create the variable outside the function. If only the first call creates it, make that"
        " call first."),
    Pitfall(("InaccessibleTensorError", "TypeError"), "Tensor 'while/.*is out of scope",
        "A tensor of a loop that runs in the graph is stored here, as in a list, and used after the"
        " loop.",
        "Use a tf.TensorArray: out = out.write(i, value) in the loop, and out.stack() after it."),
    Pitfall(("InaccessibleTensorError", "TypeError"), "is out of scope",
        "A symbolic tensor leaked: it was stored in a global or an attribute here, and used after"
        " its trace.", _LEAKED),
    Pitfall(("EndlessError",), "",
        "Python iterates over a dataset (a comprehension, sum() or next()); in a graph that never"
        " ends.",
        "Use a for statement, which AutoGraph converts, or dataset.reduce(start, f)."),
    Pitfall(("OutOfScopeError",), "",
        "A symbolic tensor leaked: it was stored in a global or an attribute by an earlier trace,"
        " and is used here.", _LEAKED),
    Pitfall(("ValueError",),
        "must also be initialized|may not be (None|undefined)|must be defined|must also have a",
        "A variable is assigned in only one branch or only inside the loop; a graph needs it in"
        " all.",
        "Assign it before the if or the loop, or in both branches."),
    Pitfall(("TypeError", "ValueError"), "has (dtype|shape) .* (branch|loop|iteration)",
        "The branches of an if, or the iterations of a loop, differ in dtype or shape; in a graph"
        " they must agree.",
        "Use tf.cast or tf.reshape on one side, and tf.autograph.experimental.set_loop_options for"
        " shapes that grow."),
    Pitfall(("TypeError", "InvalidArgumentError"),
        "does not match type|must have the same type|cannot compute .* as input .* expected",
        "The tensors have different dtypes, and TensorFlow does not convert them implicitly.",
        "Use tf.cast(x, y.dtype)."),
    Pitfall(("ValueError", "InvalidArgumentError"),
        "[Dd]imensions must be equal|[Ii]ncompatible|[Ss]hape must be rank|not compatible",
        "The shapes are incompatible.",
        "Check the shapes: print(x.shape) shows them during tracing."),
    Pitfall(("RecursionError",), "",
        "The recursion never ends.",
        "Use tf.while_loop."),
)
# fmt: on


def message_of(error: BaseException) -> str:
    """Return the first line of the user's error that says something.

    AutoGraph writes before it where it was, and Keras which layer was called.
    """
    name, text = f"{type(error).__name__}: ", _COLOURS.sub("", str(error))
    lines = [line.strip().removeprefix(name) for line in text.splitlines() if line.strip()]
    first = "".join([*_own(lines), *lines][:1])
    return first if len(first) <= _MESSAGE_CHARACTERS else first.partition(". ")[0]


def _own(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines from an error's own text on; places that follow it are in it."""
    while lines and (_SAYS_NOTHING.match(lines[0]) or PLACE.match(lines[0])):
        lines = lines[2:] if PLACE.match(lines[0]) else lines[1:]  # a place's code is below it
    return lines


def pitfall_of(error: BaseException) -> Pitfall | None:
    """Return what kind of error it is; None for one that has nothing to do with tracing."""
    return next(find_pitfalls(_PITFALLS, error, message_of(error)), None)
