"""The ways in which code fails to trace: what is wrong, and what helps."""

from ipyjaxbench.adapters.shared.diagnosis.describe import find_pitfalls
from ipyjaxbench.graphs import Pitfall
from ipyjaxbench.usercode import message_of

_VALUE = ("ConcretizationTypeError", "TracerBoolConversionError", "TracerIntegerConversionError",
          "TracerArrayConversionError", "TypeError")  # fmt: skip
#: What is given to a static argument of a jitted function, and is no choice.
UNHASHABLE = Pitfall(
    ("ValueError",),
    r"on-hashable static[\s\S]*?<class '(list|dict|set|bytearray|numpy\.ndarray|[\w.]*ArrayImpl)'>",
    "what is static is looked up by its hash, and a list, a dict or an array has none",
    "a tuple in place of a list, a frozen dataclass in place of a dict, no array",
)
_NO_RESULT = "the result is no array: jit gives back arrays and numbers, and trees of them"
_ONLY_SHAPES = "and while tracing there are only shapes"
_FIXED_BEFORE = "and shapes are fixed before values exist"
_RESULT_SIZE = f"how much comes out depends on the values, {_FIXED_BEFORE}"
_ONLY_ARRAYS = "return arrays alone, and make the rest of them outside"
_CONCRETE = ("ConcretizationTypeError",)

#: The first that fits is shown; what is special stands before what is general.
# fmt: off
_PITFALLS = (
    Pitfall(("NoDataError",), "coroutine", _NO_RESULT,
        "leave out async: what is traced cannot wait"),
    Pitfall(("NoDataError",), "generator", _NO_RESULT,
        "collect in a list, and return jnp.stack(list)"),
    Pitfall(("NoDataError",), "", _NO_RESULT, _ONLY_ARRAYS),
    Pitfall(("TypeError",),
        "returned a value of type|^Value .* with type .* is not a valid JAX type",
        _NO_RESULT, _ONLY_ARRAYS),
    Pitfall(_VALUE, "",
        f"assert asks for a value, {_ONLY_SHAPES}",
        "assert on shapes and dtypes; for values jax.experimental.checkify.check, or"
        " jax.debug.print", r"^assert\b"),
    Pitfall(("TracerBoolConversionError",), "",
        f"whether to raise depends on a value, {_ONLY_SHAPES}",
        "jax.experimental.checkify.check(condition, message)", after=r"^raise\b"),
    Pitfall(("TypeError",), "unhashable type: '.*Tracer'",
        f"a dict or a set looks for a value, {_ONLY_SHAPES}",
        "jax.lax.switch, or an array in place of the dict"),
    Pitfall(("TypeError",), r"__format__|format string",
        f"a text is made of a value, {_ONLY_SHAPES}",
        'jax.debug.print("{x:.2f}", x=x)'),
    Pitfall(_CONCRETE, "",
        f"a text is made of a value, {_ONLY_SHAPES}",
        'jax.debug.print("{x:.2f}", x=x)', r"""["'] *%|\blog(ging|ger)?\.\w+\("""),
    Pitfall(("TypeError",), "immutable|does not support item assignment",
        "arrays of JAX cannot be changed: what is assigned to a part makes a new array",
        "x = x.at[index].set(value)"),
    Pitfall(("ConcretizationTypeError", "TracerArrayConversionError"),
        r"\b(item|tolist)\(\)|`?tolist|`?item",
        f"item() and tolist() ask for Python numbers, {_ONLY_SHAPES}",
        "leave it out: arrays compute as numbers do; or compute with the number outside of jit"),
    Pitfall(_CONCRETE, "size argument|to make jnp", _RESULT_SIZE, "give it a size="),
    Pitfall(_CONCRETE, "argument `?'?(start|stop|step|num)",
        f"how much comes out depends on a value, {_FIXED_BEFORE}",
        "jnp.arange(N) with a fixed N, and jnp.where for those that count; or compute the number"
        " outside of jit, and make it static"),
    Pitfall(_CONCRETE, "total_repeat_length|number of repeats", _RESULT_SIZE,
        "give jnp.repeat a total_repeat_length="),
    Pitfall(_CONCRETE, "bincount", _RESULT_SIZE, "give jnp.bincount a length="),
    Pitfall(("NonConcreteBooleanIndexError",), "",
        f"a mask picks as many elements as its values say, {_FIXED_BEFORE}",
        "jnp.nonzero(mask, size=N), or make this step outside of jit"),
    Pitfall(("TracerBoolConversionError",), "",
        f"max, min, any, all, sorted compare in Python, {_ONLY_SHAPES}",
        "jnp.maximum, jnp.minimum, jnp.any, jnp.all, jnp.sort",
        r"(?<![.\w])(max|min|any|all|sorted)\("),
    Pitfall(("TracerBoolConversionError",), "",
        f"if, while, and, or, not ask for a value, {_ONLY_SHAPES}",
        "jax.lax.cond for if, jax.lax.while_loop for while"),
    Pitfall(("TracerIntegerConversionError",), "",
        f"range() or an index asks for a number, {_ONLY_SHAPES}",
        "jax.lax.fori_loop for range(n), jnp.take for a list"),
    Pitfall(("IndexError",),
        "lice entries must be static|slice.*[Tt]racer|[Aa]rray slice indices must",
        f"the ends of a slice make its shape, {_FIXED_BEFORE}",
        "jax.lax.dynamic_slice_in_dim(x, start, size) with a fixed size"),
    Pitfall(("TypeError",), r"Shapes must be 1D[\s\S]*depends on the value",
        f"a shape is made of a value, {_FIXED_BEFORE}",
        "make the argument a Python number, and static"),
    Pitfall(("TypeError",), "Shapes must be 1D",
        "a shape is computed by jnp, and so has no value while tracing",
        "compute shapes with x.size, len(x), math.prod(x.shape)"),
    Pitfall(("TracerArrayConversionError",), "",
        f"NumPy asks for the numbers, {_ONLY_SHAPES}",
        "the same function of jnp, as %jaxpr --np shows it, or jax.pure_callback"),
    Pitfall(("UnexpectedTracerError",), "",
        "a value of an earlier trace was kept, in a global or an attribute, and is used here",
        "return the value instead of keeping it"),
    Pitfall(_CONCRETE, "",
        f"a Python number or a shape is made of a value, {_ONLY_SHAPES}",
        "make the argument a Python number, and static; or compute with the number outside of jit"),
    Pitfall(("TypeError",), "requires real-.*valued inputs",
        "the derivative by an integer is asked for, and there is none: grad needs floats",
        "give a float, as 3.0 in place of 3"),
    Pitfall(("TypeError",), "only defined for scalar-output functions",
        "grad takes a function that gives one number",
        "the sum or the mean of the result; or jax.jacobian for each number of it"),
    Pitfall(("TypeError",), "requires real-valued outputs",
        "the result is an integer, and has no derivative", "return a float"),
    Pitfall(("ValueError",), "vmap got inconsistent sizes",
        "the arrays that vmap goes along have different lengths",
        "in_axes=None for what is the same in each row"),
    Pitfall(("OverflowError",), "parsing an argument",
        "a Python number is larger than an integer of JAX can be", "give it as a float"),
    UNHASHABLE,
    Pitfall(("ValueError",), "on-hashable static arguments",
        "a function with static arguments is called inside of another jit, which traces them",
        "use one jit, with static_argnames"),
    Pitfall(("RuntimeError", "ValueError"), "deleted|donated",
        "the memory of an argument was given away by an earlier call (donate_argnums)",
        "use what that call returned, or copy the argument before: jnp.copy(x)"),
    Pitfall(("KeyReuseError",), "",
        "a random key is used twice, and gives the same numbers twice",
        "key, sub = jax.random.split(key), and use sub"),
    Pitfall(("RecursionError",), "",
        "the function calls itself without an end, or too deep for Python's stack",
        "jax.lax.while_loop"),
    Pitfall(("TypeError",), "not a valid JAX type|rror interpreting argument|[Cc]annot interpret",
        "an argument is no data: jit takes arrays and numbers, and trees of them",
        "make it static, with static_argnames"),
)
# fmt: on


def pitfall_of(error: Exception, source: str = "", after: str = "") -> Pitfall | None:
    """Return what kind of error it is, of this line and the one after; None if not of tracing."""
    fits = [*find_pitfalls(_PITFALLS, error, message_of(error), source, after)]
    # The exact type comes first: many of JAX's are TypeErrors too.
    exact = (pitfall for pitfall in fits if type(error).__name__ in pitfall.errors)
    return next(exact, fits[0] if fits else None)
