"""The ways in which code fails to trace: what is wrong, and what helps."""

from ipyjaxbench.adapters.shared.diagnosis.describe import failing_expression, find_pitfalls
from ipyjaxbench.graphs import Pitfall
from ipyjaxbench.usercode import message_of

_VALUE = ("ConcretizationTypeError", "TracerBoolConversionError", "TracerIntegerConversionError",
          "TracerArrayConversionError", "TypeError")  # fmt: skip
#: What is given to a static argument of a jitted function, and is no choice.
UNHASHABLE = Pitfall(
    ("ValueError",),
    r"on-hashable static[\s\S]*?<class '(list|dict|set|bytearray|numpy\.ndarray|[\w.]*ArrayImpl)'>",
    "Static arguments must be hashable; lists, dicts and arrays are not.",
    "Pass a tuple instead of a list, a frozen dataclass instead of a dict, and arrays as traced"
    " arguments.",
)
_NO_RESULT = "The function must return arrays or numbers, or pytrees of them."
_ONLY_SHAPES = "but under jit only shapes and dtypes are known."
_SHAPES_FIRST = "under jit, shapes must be known before the values."
_RESULT = failing_expression("the result")
_RESULT_SIZE = f"The size of {_RESULT} depends on the data; {_SHAPES_FIRST}"
_ONLY_ARRAYS = "Return arrays only, and build everything else outside the function."
_NO_TEXT = f"Formatting text needs a concrete value, {_ONLY_SHAPES}"
_PRINT = 'Use jax.debug.print("{x:.2f}", x=x).'
#: A call of what is in a module or an object, as jnp.transpose(x, axes); not of `range`.
_CALL_OF_LIBRARY = r"(?s)^(?!.*\brange\().*\w\.\w+\(.*\)$"
_CONCRETE = ("ConcretizationTypeError",)
SHAPE_BY_VALUE = Pitfall(
    ("TypeError",),
    r"Shapes must be 1D[\s\S]*depends on the value",
    f"A shape depends on a value; {_SHAPES_FIRST}",
    "Pass the argument as a Python number, and make it static.",
)
COMPUTED_SHAPE = Pitfall(
    ("TypeError",),
    "Shapes must be 1D",
    "A shape is computed with jnp, so it has no concrete value during tracing.",
    "Compute shapes with x.shape, x.size, len(x) or math.prod.",
)

#: The first that fits is shown; what is special stands before what is general.
# fmt: off
_PITFALLS = (
    Pitfall(("NoDataError",), "coroutine", _NO_RESULT,
        "Remove async: traced code cannot await."),
    Pitfall(("NoDataError",), "generator", _NO_RESULT,
        "Collect the values in a list, and return jnp.stack(values)."),
    Pitfall(("NoDataError",), "", _NO_RESULT, _ONLY_ARRAYS),
    Pitfall(("TypeError",),
        "returned a value of type|^Value .* with type .* is not a valid JAX type",
        _NO_RESULT, _ONLY_ARRAYS),
    Pitfall(_VALUE, "",
        f"assert needs a concrete value, {_ONLY_SHAPES}",
        "Assert on shapes and dtypes only. Check values with jax.experimental.checkify.check, or"
        " print them with jax.debug.print.", r"^assert\b"),
    Pitfall(("TracerBoolConversionError",), "",
        f"Whether to raise depends on a value, {_ONLY_SHAPES}",
        "Use jax.experimental.checkify.check(condition, message).", after=r"^raise\b"),
    Pitfall(("TypeError",), "parameters to jaxpr equations must have __hash__",
        f"{failing_expression('A parameter')} needs a concrete value, {_ONLY_SHAPES}",
        "Pass the argument as a Python number and make it static, or compute the number outside"
        " jit."),
    Pitfall(("TypeError",), "unhashable type: '.*Tracer'",
        f"Looking something up in a dict or set needs a concrete value, {_ONLY_SHAPES}",
        "Use jax.lax.switch, or index an array instead of the dict."),
    Pitfall(("TypeError",), r"__format__|format string", _NO_TEXT, _PRINT),
    Pitfall(_CONCRETE, "", _NO_TEXT, _PRINT, r"""["'] *%|\blog(ging|ger)?\.\w+\("""),
    Pitfall(("TypeError",), "immutable|does not support item assignment",
        "JAX arrays are immutable: an update makes a new array.",
        "Write x = x.at[index].set(value)."),
    Pitfall(("ConcretizationTypeError", "TracerArrayConversionError"),
        r"\b(item|tolist)\(\)|`?tolist|`?item",
        f"{failing_expression('item() or tolist()')} needs concrete values, {_ONLY_SHAPES}",
        "Leave them out: arrays work like numbers. Or move this step out of jit."),
    Pitfall(_CONCRETE, "size argument|to make jnp", _RESULT_SIZE, "Pass a fixed size=."),
    Pitfall(_CONCRETE, "argument `?'?(start|stop|step|num)",
        f"The length of {_RESULT} depends on a value; {_SHAPES_FIRST}",
        "Use jnp.arange(N) with a fixed N and mask the rest with jnp.where. Or compute the number"
        " outside jit, and make it static."),
    Pitfall(_CONCRETE, "total_repeat_length|number of repeats", _RESULT_SIZE,
        "Pass a fixed total_repeat_length= to jnp.repeat."),
    Pitfall(_CONCRETE, "bincount", _RESULT_SIZE, "Pass a fixed length= to jnp.bincount."),
    Pitfall(("NonConcreteBooleanIndexError",), "", _RESULT_SIZE,
        "Use jnp.nonzero(mask, size=N), or move this step out of jit."),
    Pitfall(("TracerBoolConversionError",), "",
        f"{failing_expression('A function of Python')} needs concrete values, {_ONLY_SHAPES}",
        "Use jnp.maximum, jnp.minimum, jnp.any, jnp.all or jnp.sort.",
        r"(?<![.\w])(max|min|any|all|sorted)\("),
    Pitfall(("TracerBoolConversionError",), "",
        f"Python's control flow needs the value of {failing_expression('a condition')},"
        f" {_ONLY_SHAPES}",
        "Use jnp.where or jax.lax.cond instead of if, and jax.lax.while_loop instead of while."),
    Pitfall(("TracerIntegerConversionError",), "",
        f"{failing_expression('An axis or a size')} needs concrete integers, {_ONLY_SHAPES}",
        "Pass the argument as a Python number or a tuple of them, such as (1, 0), and make it"
        " static.", expression=_CALL_OF_LIBRARY),
    Pitfall(("TracerIntegerConversionError",), "",
        f"{failing_expression('range() or an index')} needs a concrete integer, {_ONLY_SHAPES}",
        "Use jax.lax.fori_loop instead of range(n), and jnp.take to index a list."),
    Pitfall(("IndexError",),
        "lice entries must be static|slice.*[Tt]racer|[Aa]rray slice indices must",
        f"The size of {_RESULT} depends on the bounds of the slice; {_SHAPES_FIRST}",
        "Use jax.lax.dynamic_slice_in_dim(x, start, size) with a fixed size."),
    SHAPE_BY_VALUE,
    COMPUTED_SHAPE,
    Pitfall(("TracerArrayConversionError",), "",
        f"{failing_expression('NumPy')} needs concrete values, {_ONLY_SHAPES}",
        "Use the jnp function of the same name, or jax.pure_callback."),
    Pitfall(("UnexpectedTracerError",), "",
        "A tracer leaked: a value from an earlier trace was stored in a global or an attribute, and"
        " is used here.",
        "Return the value instead of storing it."),
    Pitfall(_CONCRETE, "",
        f"{failing_expression('A Python number or a shape')} needs a concrete value,"
        f" {_ONLY_SHAPES}",
        "Pass the argument as a Python number and make it static, or compute the number outside"
        " jit."),
    Pitfall(("TypeError",), "must have (the )?same (pytree|type) structure",
        "What all branches return, and a loop's carry before and after its body, must have the same"
        " structure: as many values, in the same containers with the same keys.",
        "Return the same containers everywhere, as a tuple with None for what is missing."),
    Pitfall(("TypeError",), "body output must be a pair",
        "The body of scan must return a pair: the carry, and what is to be stacked.",
        "Write `return carry, value`; the value is None where nothing is to be stacked."),
    Pitfall(("TypeError",),
        "ranches must have equal output types|true_fun and false_fun output|branch .*outputs? must",
        f"The branches of {failing_expression('cond or switch')} must return the same shapes and"
        " dtypes.", "Convert what one of them returns with .astype or jnp.broadcast_to."),
    Pitfall(("TypeError",),
        "carry input and carry output must|carry output and input must|body_fun output and input",
        "The body of a loop must return a carry of the shapes and dtypes with which it begins.",
        "Begin with what the body returns, as with jnp.zeros, or convert that with .astype."),
    Pitfall(("TypeError",), "requires real-.*valued inputs",
        "grad needs a float: there is no derivative with respect to an integer.",
        "Pass a float: 3.0 instead of 3."),
    Pitfall(("TypeError",), "only defined for scalar-output functions",
        "grad needs a function that returns a scalar.",
        "Return the sum or mean, or use jax.jacobian."),
    Pitfall(("TypeError",), "requires real-valued outputs",
        "The result is an integer, which has no derivative.", "Return a float."),
    Pitfall(("ValueError",), "vmap got inconsistent sizes",
        "The mapped axes of the arguments of vmap have different lengths.",
        "Use in_axes=None for arguments that are not mapped."),
    Pitfall(("OverflowError",), "parsing an argument",
        "A Python integer is too large for JAX's integer types.", "Pass it as a float."),
    UNHASHABLE,
    Pitfall(("ValueError",), "on-hashable static arguments",
        "A function with static arguments is called inside another jit, which traces them.",
        "Use a single jit with static_argnames."),
    Pitfall(("RuntimeError", "ValueError"), "deleted|donated",
        "The argument was donated to an earlier call (donate_argnums), which deleted it.",
        "Use what that call returned, or copy the argument first: jnp.copy(x)."),
    Pitfall(("TypeError",), "lowered and compiled for a particular signature",
        "What was compiled ahead of time, by .lower(...).compile(), cannot be traced again.",
        "Use the function that was lowered; as_text() of what was compiled shows its program."),
    Pitfall(("KeyReuseError",), "",
        "A random key is used twice, and gives the same numbers both times.",
        "Split it: key, sub = jax.random.split(key), and use sub."),
    Pitfall(("RecursionError",), "",
        "The recursion never ends, or is too deep for Python's stack.",
        "Use jax.lax.while_loop."),
    Pitfall(("TypeError",), r"rror interpreting argument[\s\S]*? at path \w+[\[.]",
        "A part of an argument is not data: jit takes arrays and numbers, and pytrees of them.",
        "Pass that part as an argument of its own, and make that static with static_argnames. A"
        " field of a class can be static, too."),
    Pitfall(("TypeError",), "not a valid JAX type|rror interpreting argument|[Cc]annot interpret",
        "An argument is not data: jit takes arrays and numbers, and pytrees of them.",
        "Make it static with static_argnames."),
)
# fmt: on


def pitfall_of(
    error: BaseException, source: str = "", after: str = "", expression: str = ""
) -> Pitfall | None:
    """Return what kind of error it is, of this line and the one after; None if not of tracing."""
    fits = [*find_pitfalls(_PITFALLS, error, message_of(error), source, after, expression)]
    # The exact type comes first: many of JAX's are TypeErrors too.
    exact = (pitfall for pitfall in fits if type(error).__name__ in pitfall.errors)
    return next(exact, fits[0] if fits else None)
