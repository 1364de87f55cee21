"""The ways in which code fails to trace: what is wrong, and what helps."""

import re

from ipyjaxbench.adapters.shared.diagnosis.describe import find_pitfalls
from ipyjaxbench.graphs import Pitfall

_MESSAGE_CHARACTERS = 100  # characters of a message of which the first sentence is enough
PLACE = re.compile(r'File "([^"]+)", line (\d+)')
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_SAYS_NOTHING = re.compile(
    r"Exception encountered when calling|in user code:|Arguments received by"
)
_ONLY_SHAPES = "and while tracing there are only shapes"


# fmt: off
_PITFALLS = (
    Pitfall(("NotImplementedError",), "numpy array|NumPy",
        f"NumPy asks for the numbers, {_ONLY_SHAPES}",
        "the same function of tf, or tf.numpy_function", asks=True),
    Pitfall(("OperatorNotAllowedInGraphError",), "Python `bool`",
        f"if, while, and, or, not, bool() ask for a value, {_ONLY_SHAPES}",
        "tf.where or tf.cond for if, tf.while_loop for while; or leave autograph=False out",
        asks=True),
    Pitfall(("OperatorNotAllowedInGraphError",), "Iterating",
        "a loop in brackets, list() or unpacking takes a tensor apart in Python, which AutoGraph"
        " does not rewrite", "tf.map_fn(f, x), or tf.unstack(x) where its length is fixed",
        asks=True),
    Pitfall(("TypeError",),
        r"interpreted as an integer|indices must be integers|sequence of integers",
        f"range(), an index or a shape asks for a number, {_ONLY_SHAPES}",
        "tf.range(n) and tf.while_loop, tf.gather for a list, or a Python number in its place",
        asks=True),
    Pitfall(("TypeError", "AttributeError"),
        r"__int__|__float__|__index__|real number, not|a string, a bytes-like object or",
        f"a Python number is made of a tensor, {_ONLY_SHAPES}", "tf.cast(x, tf.int32)", asks=True),
    Pitfall(("AttributeError",), r"no attribute '(numpy|item|tolist)'",
        f"numpy(), item() and tolist() ask for the numbers, {_ONLY_SHAPES}",
        "leave it out, and compute with tf", asks=True),
    Pitfall(("TypeError",), "does not support item assignment",
        "tensors do not change: only variables can be assigned to",
        "tf.tensor_scatter_nd_update(x, indices, updates), or tf.where"),
    Pitfall(("VariableMadeError", "ValueError"),
        r"^a tf\.Variable is made|singleton tf\.Var|[Cc]reating variables on a non-first call",
        "a variable is made here: a tf.function may make variables on its first call alone, and"
        " looking would make one too",
        "make it outside of the function; where it is made on the first call alone, call it first"),
    Pitfall(("InaccessibleTensorError", "TypeError"), "is out of scope",
        "the symbolic tensor that is made here was kept, in a global or an attribute, and is used"
        " after its trace", "return the tensor instead of keeping it, or keep it in a tf.Variable"),
    Pitfall(("EndlessError",), "",
        "Python takes the elements of a dataset one by one, as in brackets, sum() or next(), and"
        " in a graph that has no end",
        "a for statement, which AutoGraph rewrites, or dataset.reduce(start, f)"),
    Pitfall(("OutOfScopeError",), "",
        "a symbolic tensor of an earlier trace was kept, in a global or an attribute, and is used"
        " here", "return the tensor instead of keeping it, or keep it in a tf.Variable"),
    Pitfall(("ValueError",),
        "must also be initialized|may not be (None|undefined)|must be defined|must also have a",
        "a name gets a value on one way through the if or the loop alone, and a graph needs it on"
        " each", "give it a value before the if or the loop, or in both branches"),
    Pitfall(("TypeError", "ValueError"), "has (dtype|shape) .* (branch|loop|iteration)",
        "the branches of an if, or the turns of a loop, give other types or shapes, and a graph has"
        " one",
        "tf.cast or tf.reshape on one side; tf.autograph.experimental.set_loop_options for shapes"
        " that grow"),
    Pitfall(("TypeError", "InvalidArgumentError"),
        "does not match type|must have the same type|cannot compute .* as input .* expected",
        "the tensors have other types, and TensorFlow does not change them by itself",
        "tf.cast(x, y.dtype)"),
    Pitfall(("ValueError", "InvalidArgumentError"),
        "[Dd]imensions must be equal|[Ii]ncompatible|[Ss]hape must be rank|not compatible",
        "the shapes do not fit together",
        "look at the shapes: print(x.shape) shows them while tracing"),
    Pitfall(("RecursionError",), "",
        "the function calls itself without an end",
        "tf.while_loop"),
)
# fmt: on


def message_of(error: Exception) -> str:
    """Return the first line of the user's error that says something.

    AutoGraph writes before it where it was, and Keras which layer was called.
    """
    name = f"{type(error).__name__}: "
    text = _COLOURS.sub("", str(error))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    frames = [number for number, line in enumerate(lines) if PLACE.match(line)]
    after = lines[frames[-1] + 2 :] if frames else []  # a frame's second line is its code
    messages = [line.removeprefix(name) for line in after or lines]
    telling = (line for line in messages if not _SAYS_NOTHING.match(line))
    first = next(telling, "".join(messages[:1]))
    return first if len(first) <= _MESSAGE_CHARACTERS else first.partition(". ")[0]


def pitfall_of(error: Exception) -> Pitfall | None:
    """Return what kind of error it is; None for one that has nothing to do with tracing."""
    return next(find_pitfalls(_PITFALLS, error, message_of(error)), None)
