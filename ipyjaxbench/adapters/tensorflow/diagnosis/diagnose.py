"""Why TensorFlow would not trace a call, and what would help, each fix tried by tracing it."""

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import FrameType, FunctionType, MethodType, TracebackType
from typing import Any

import tensorflow as tf

from ipyjaxbench.adapters.tensorflow import trees
from ipyjaxbench.adapters.tensorflow.diagnosis import eager_check, rewrite
from ipyjaxbench.adapters.tensorflow.graphs import autograph_source, references, tracing
from ipyjaxbench.graphs.components import line_of
from ipyjaxbench.graphs.diagnosis import Diagnosis, Fix, Pitfall
from ipyjaxbench.usercode.call import Call

_MOST_FIXES = 3
_LONG = 100  # characters of a message of which the first sentence is enough
_PLACE = re.compile(r'File "([^"]+)", line (\d+)')
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_SAYS_NOTHING = re.compile(
    r"Exception encountered when calling|in user code:|Arguments received by"
)
_ONLY_SHAPES = "and while tracing there are only shapes"


_PITFALLS = (
    Pitfall(
        ("NotImplementedError",),
        "numpy array|NumPy",
        f"NumPy asks for the numbers, {_ONLY_SHAPES}",
        "the same function of tf, or tf.numpy_function",
        asks=True,
    ),
    Pitfall(
        ("OperatorNotAllowedInGraphError",),
        "Python `bool`",
        f"if, while, and, or, not, bool() ask for a value, {_ONLY_SHAPES}",
        "tf.where or tf.cond for if, tf.while_loop for while; or leave autograph=False out",
        asks=True,
    ),
    Pitfall(
        ("OperatorNotAllowedInGraphError",),
        "Iterating",
        "a loop in brackets, list() or unpacking takes a tensor apart in Python, which AutoGraph"
        " does not rewrite",
        "tf.map_fn(f, x), or tf.unstack(x) where its length is fixed",
        asks=True,
    ),
    Pitfall(
        ("TypeError",),
        r"interpreted as an integer|indices must be integers|sequence of integers",
        f"range(), an index or a shape asks for a number, {_ONLY_SHAPES}",
        "tf.range(n) and tf.while_loop, tf.gather for a list, or a Python number in its place",
        asks=True,
    ),
    Pitfall(
        ("TypeError", "AttributeError"),
        r"__int__|__float__|__index__|real number, not|a string, a bytes-like object or",
        f"a Python number is made of a tensor, {_ONLY_SHAPES}",
        "tf.cast(x, tf.int32)",
        asks=True,
    ),
    Pitfall(
        ("AttributeError",),
        r"no attribute '(numpy|item|tolist)'",
        f"numpy(), item() and tolist() ask for the numbers, {_ONLY_SHAPES}",
        "leave it out, and compute with tf",
        asks=True,
    ),
    Pitfall(
        ("TypeError",),
        "does not support item assignment",
        "tensors do not change: only variables can be assigned to",
        "tf.tensor_scatter_nd_update(x, indices, updates), or tf.where",
    ),
    Pitfall(
        ("VariableMadeError", "ValueError"),
        r"^a tf\.Variable is made|singleton tf\.Var|[Cc]reating variables on a non-first call",
        "a variable is made here: a tf.function may make variables on its first call alone, and"
        " looking would make one too",
        "make it outside of the function; where it is made on the first call alone, call it first",
    ),
    Pitfall(
        ("InaccessibleTensorError", "TypeError"),
        "is out of scope",
        "the symbolic tensor that is made here was kept, in a global or an attribute, and is used"
        " after its trace",
        "return the tensor instead of keeping it, or keep it in a tf.Variable",
    ),
    Pitfall(
        ("EndlessError",),
        "",
        "Python takes the elements of a dataset one by one, as in brackets, sum() or next(), and"
        " in a graph that has no end",
        "a for statement, which AutoGraph rewrites, or dataset.reduce(start, f)",
    ),
    Pitfall(
        ("OutOfScopeError",),
        "",
        "a symbolic tensor of an earlier trace was kept, in a global or an attribute, and is used"
        " here",
        "return the tensor instead of keeping it, or keep it in a tf.Variable",
    ),
    Pitfall(
        ("ValueError",),
        "must also be initialized|may not be (None|undefined)|must be defined|must also have a",
        "a name gets a value on one way through the if or the loop alone, and a graph needs it on"
        " each",
        "give it a value before the if or the loop, or in both branches",
    ),
    Pitfall(
        ("TypeError", "ValueError"),
        "has (dtype|shape) .* (branch|loop|iteration)",
        "the branches of an if, or the turns of a loop, give other types or shapes, and a graph has"
        " one",
        "tf.cast or tf.reshape on one side; tf.autograph.experimental.set_loop_options for shapes"
        " that grow",
    ),
    Pitfall(
        ("TypeError", "InvalidArgumentError"),
        "does not match type|must have the same type|cannot compute .* as input .* expected",
        "the tensors have other types, and TensorFlow does not change them by itself",
        "tf.cast(x, y.dtype)",
    ),
    Pitfall(
        ("ValueError", "InvalidArgumentError"),
        "[Dd]imensions must be equal|[Ii]ncompatible|[Ss]hape must be rank|not compatible",
        "the shapes do not fit together",
        "look at the shapes: print(x.shape) shows them while tracing",
    ),
    Pitfall(("RecursionError",), "", "the function calls itself without an end", "tf.while_loop"),
)


def diagnose(call: Call, error: Exception) -> Diagnosis:
    """Say why a call would not trace.

    Args:
        call: as it was tried.
        error: what tracing raised.

    Returns:
        The diagnosis; each of its fixes was traced.
    """
    file, line = _place_of(error)
    blamed = _found_by_search(call, error)
    tried = itertools.chain(_by_autograph(call), _fixes(call, file, line), _as_numbers(blamed))
    return replace(
        _told(call.text, error),
        blamed=tuple(blamed),
        fixes=tuple(itertools.islice(tried, _MOST_FIXES)),
    )


def explain(error: BaseException) -> Diagnosis | None:
    """Say why code that failed would not trace; only the function that was traced is traced again.

    Args:
        error: what was raised, with its traceback.

    Returns:
        The diagnosis; None where TensorFlow was not tracing.
    """
    if not isinstance(error, Exception) or not _is_of_tracing(error):
        return None
    call = _traced_call(error)
    return diagnose(call, error) if call is not None else _told("the cell", error)


def _told(code: str, error: Exception) -> Diagnosis:
    """What the error itself tells."""
    pitfall = _pitfall_of(error)
    file, line = _place_of(error)
    source = line_of(autograph_source.cell_of(file), line)
    return Diagnosis(
        code=code,
        error=type(error).__name__,
        message=_message(error),
        line=line if source else 0,
        source=source,
        because=pitfall.because if pitfall else "the code raises while it is traced",
        advice=pitfall.advice if pitfall else "",
    )


def _message(error: Exception) -> str:
    """The first line of the user's error that says something.

    AutoGraph writes before it where it was, and Keras which layer was called.
    """
    name = f"{type(error).__name__}: "
    text = _COLOURS.sub("", str(error))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    frames = [number for number, line in enumerate(lines) if _PLACE.match(line)]
    after = lines[frames[-1] + 2 :] if frames else []  # a frame's second line is its code
    told = [line.removeprefix(name) for line in after or lines]
    first = next((line for line in told if not _SAYS_NOTHING.match(line)), "".join(told[:1]))
    return first if len(first) <= _LONG else first.partition(". ")[0]


def _pitfall_of(error: Exception) -> Pitfall | None:
    names, message = {kind.__name__ for kind in type(error).__mro__}, _message(error)
    for each in _PITFALLS:
        if names.intersection(each.errors) and re.search(each.text, message):
            return each
    return None


def _place_of(error: Exception) -> tuple[str, int]:
    """File and line of the innermost code that is the user's.

    AutoGraph tells lines in the message, as what is run was made of them; without it they are in
    the traceback.
    """
    known = getattr(error, "place", None)
    if known is not None:
        return known  # type: ignore[no-any-return]
    told = [
        (file, int(line)) for file, line in _PLACE.findall(str(error)) if references.is_users(file)
    ]
    if told:
        return told[-1]
    inside = False
    found = ("", 0)
    for frame, line in _frames(error.__traceback__):
        file = frame.f_code.co_filename
        inside = inside or not references.is_users(file)
        if references.is_users(file) and inside and "__autograph_generated_file" not in file:
            found = file, line
    return found


def _frames(traceback: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next


def _is_of_tracing(error: Exception) -> bool:
    """Whether the error was raised in a graph that was being made, or by what was kept of one."""
    if isinstance(error, tf.errors.OperatorNotAllowedInGraphError):
        return True
    if re.search("in user code:|on a non-first call|tf.Tensor.* is out of scope", str(error)):
        return True
    return any(_holds_symbols(frame) for frame, _ in _frames(error.__traceback__))


def _holds_symbols(frame: FrameType) -> bool:
    """Whether code of the user's was given symbolic tensors."""
    if not references.is_users(frame.f_code.co_filename):
        return False
    return any(map(tf.is_symbolic_tensor, trees.leaves(_given(frame))))


def _given(frame: FrameType) -> list[Any]:
    """The arguments of the function that a frame is of."""
    code = frame.f_code
    return [frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount]]


def _traced_call(error: Exception) -> Call | None:
    """The function that was traced, with what its frame shows of its arguments."""
    for frame, _ in _frames(error.__traceback__):
        if not _holds_symbols(frame):
            continue
        name = frame.f_code.co_name.removeprefix("tf__")
        names, given = frame.f_code.co_varnames[: frame.f_code.co_argcount], _given(frame)
        if names[0] == "self":
            names, given = names[1:], given[1:]
            function = getattr(frame.f_locals["self"], name, None)
        else:
            function = _global_of(error, name)
        if function is None:
            return None
        args = tuple(tf.nest.map_structure(_spec_of, trees.shielded(value)) for value in given)
        return Call(f"{name}(...)", function, args, {}, names)
    return None


def _global_of(error: Exception, name: str) -> Callable[..., Any] | None:
    """A function of the user's by its name, as the frames around the trace know it."""
    for frame, _ in _frames(error.__traceback__):
        for names in (frame.f_locals, frame.f_globals):
            found = names.get(name)
            if found is not None and callable(found):
                return found  # type: ignore[no-any-return]
    return None


def _spec_of(value: Any) -> Any:
    return tf.TensorSpec(value.shape, value.dtype) if tf.is_symbolic_tensor(value) else value


def _by_autograph(call: Call) -> Iterator[Fix]:
    """The same function, read by AutoGraph, where the user turned that off."""
    plain, autograph = references.plain(call.function)
    if not autograph and tracing.traces(replace(call, function=plain)):
        changes = "in place of autograph=False: if and loops become part of the graph"
        yield Fix("@tf.function", changes)


def _as_numbers(blamed: dict[str, Any]) -> Iterator[Fix]:
    """Arguments as Python numbers, with which the search for them has traced the call."""
    for name, value in blamed.items():
        if not isinstance(value, trees.Fixed):
            yield Fix(
                f"{name}={value!r}", "a Python number is part of the program: one trace for each"
            )


def _found_by_search(call: Call, error: Exception) -> dict[str, Any]:
    """The argument with which, as a fixed value, the call would trace, and that value."""
    pitfall = _pitfall_of(error)
    if pitfall is None or not pitfall.asks:
        return {}
    for index, name in enumerate(call.labels):
        value = _number_of(call.args[index])
        args = (*call.args[:index], value, *call.args[index + 1 :])
        if value is not None and tracing.traces(replace(call, args=args)):
            return {name: value}
    for name, given in call.kwargs.items():
        value = _number_of(given)
        if value is not None and tracing.traces(replace(call, kwargs={**call.kwargs, name: value})):
            return {name: value}
    return {}


def _number_of(value: Any) -> Any | None:
    """What a tensor holds, as NumPy or a Python number has it; None for what has no values here."""
    if not isinstance(value, tf.Tensor) or tf.is_symbolic_tensor(value):
        return None
    return trees.Fixed(value.numpy()) if value.shape.rank else value.numpy().item()


def _fixes(call: Call, file: str, line: int) -> Iterator[Fix]:
    """Rewritten lines with which the call traces, and gives the same."""
    found = _function_at(call.function, file, line)
    if found is None:
        return
    try:
        source = rewrite.Function(found)
    except (OSError, TypeError, SyntaxError, ValueError):
        return
    eager = eager_check.Eager(call)
    is_told = False  # of several that change nothing one is enough
    for changed, text, changes in source.rewritten(line):
        function = _with(call.function, found, changed)
        if function is None or (is_told and not changes):
            continue
        if _helps(replace(call, function=function), eager):
            is_told = is_told or not changes
            yield Fix(
                text.removeprefix("return ") if autograph_source.is_typed(file) else text, changes
            )


def _helps(call: Call, eager: eager_check.Eager) -> bool:
    """Whether a call traces, and gives in a graph what it gave without one."""
    try:
        return eager.agrees(tracing.trace(call))
    except Exception:  # noqa: BLE001  the user's code may raise anything
        return False


def _function_at(top: Any, file: str, line: int) -> FunctionType | None:
    """The innermost function that holds a line: what is called, or one that it uses."""
    held = [f for f in references.functions_of(top) if f.__code__.co_filename == file
            and f.__code__.co_firstlineno <= line <= _last_line(f)]  # fmt: skip
    return max(held, key=lambda f: f.__code__.co_firstlineno, default=None)


def _last_line(function: FunctionType) -> int:
    return max((line for *_, line in function.__code__.co_lines() if line), default=0)


def _with(top: Any, old: FunctionType, new: Callable[..., Any]) -> Callable[..., Any] | None:
    """What is called, with the new function in place of the old one."""
    _, autograph = references.plain(top)
    plain, made = references.undecorated(top), None
    if plain is old:
        made = new
    elif isinstance(plain, MethodType) and plain.__func__ is old:
        # A tf.function keeps the object behind a weak reference.
        made = MethodType(new, getattr(plain.__self__, "target", plain.__self__))
    elif isinstance(plain, FunctionType):
        names = {**plain.__globals__, old.__name__: new}
        made = FunctionType(plain.__code__, names, plain.__name__, plain.__defaults__,
                            plain.__closure__)  # fmt: skip
        made.__kwdefaults__ = plain.__kwdefaults__
    if made is None or plain is top:
        return made
    return tf.function(made, autograph=autograph)  # type: ignore[no-any-return]
