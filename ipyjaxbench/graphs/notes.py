"""What a program holds that its author may not expect, and what compilers of chips expect."""

from collections.abc import Sequence

from ipyjaxbench import units
from ipyjaxbench.reports import CHANGES_MEANING, GOOD_TO_KNOW, Note


def baked_in(shown: str, nbytes: int) -> Note:
    """A large array was captured."""
    return Note(
        "baked-in",
        f"{shown}, {units.size(nbytes)}, was captured and is part of the program: each compilation"
        " holds a copy, and may compute with it.",
        "pass it as an argument",
        CHANGES_MEANING,
    )


def unrolled(line: int, source: str, times: int, equations: int) -> Note:
    """A Python loop was traced turn by turn."""
    return Note(
        "unrolled",
        f"Line {line}, {source!r}, was traced {times} times: {units.count(equations, 'equation')}"
        " that take as much longer to compile.",
        "jax.lax.fori_loop or jax.lax.scan trace it once",
    )


def weak_output(names: Sequence[str]) -> Note:
    """A result gives way to other types."""
    which = ", ".join(names)
    return Note(
        "weak-output",
        f"What comes out ({which}) is weakly typed, as a Python number is: as an input of the next"
        " call it makes jit trace again.",
        "x.astype(x.dtype), or begin with jnp.asarray(0.0, 'float32')",
    )


def called_back(names: Sequence[str]) -> Note:
    """The program calls Python, or moves data, while it runs."""
    return Note(
        "called-back",
        f"The program leaves the device while it runs: {', '.join(names)}.",
        "leave it out where time matters",
        CHANGES_MEANING,
    )


def low_precision(dtypes: Sequence[str], products: int) -> Note:
    """Products of narrow numbers."""
    return Note(
        "low-precision",
        f"{units.count(products, 'product')} of {', '.join(dtypes)}: sums of many terms lose"
        " digits.",
        "preferred_element_type='float32' keeps those of the sum",
    )


def donated_unused(names: Sequence[str]) -> Note:
    """An argument's memory is given away for nothing."""
    return Note(
        "donated-unused",
        f"{', '.join(names)} was donated, and no result has its shape and dtype: the memory cannot"
        " be used again.",
        "leave it out of donate_argnums",
    )


def key_reused(line: str) -> Note:
    """A random key is used twice."""
    return Note(
        "key-reused",
        f"A random key is used twice, and gives the same numbers twice: {line}",
        "key, sub = jax.random.split(key), and use sub",
        CHANGES_MEANING,
    )


def tracer_kept(names: Sequence[str], *, put_back: bool, what: str = "tracer") -> Note:
    """The function keeps what it computes."""
    which = ", ".join(names)
    after = "the old value was put back" if put_back else "it could not be put back"
    return Note(
        "tracer-kept",
        f"The code keeps a value in {which}. While it is traced that is a {what}, which holds no"
        f" numbers and fails when it is used later; {after}.",
        "return the value instead",
        CHANGES_MEANING,
    )


def mixed_tree(names: Sequence[str]) -> Note:
    """An argument holds arrays, and other things too."""
    return Note(
        "mixed-tree",
        f"jax.jit refuses arguments that hold {', '.join(names)}: in a tree it takes arrays and"
        " numbers alone.",
        "give what is no data as an argument of its own, and make that static",
    )


def static_nan(names: Sequence[str]) -> Note:
    """A static argument is NaN."""
    return Note(
        "static-nan",
        f"{', '.join(names)} is static and NaN, which equals nothing: a jitted function is traced"
        " again for each new one.",
        "give it as an array, or None in its place",
        CHANGES_MEANING,
    )


def changed_while_traced(names: Sequence[str], *, put_back: bool) -> Note:
    """The function changes something outside of itself."""
    which = ", ".join(names)
    after = "it is as it was" if put_back else "that could not be put back"
    return Note(
        "changed-while-traced",
        f"The code changes {which}. A compiled function does that while it is traced, and not at"
        f" each call; {after}.",
        "return the new value instead",
        GOOD_TO_KNOW if put_back else CHANGES_MEANING,
    )


def drawn_once(names: Sequence[str]) -> Note:
    """A random number is part of the program."""
    return Note(
        "drawn-once",
        f"A number is drawn from {', '.join(names)} while the code is traced: it is part of the"
        " program, and the same at each call.",
        "draw with jax.random, from a key that is an argument",
        CHANGES_MEANING,
    )


def recomputed(times: int) -> Note:
    """The backward pass computes things again."""
    return Note(
        "recomputed",
        f"jax.checkpoint has {units.count(times, 'part')} computed again for the backward pass, to"
        " save memory.",
    )


def promoted(line: int, source: str, old: str, new: str, nbytes: int) -> Note:
    """A line makes arrays wider without saying so."""
    return Note(
        "promoted",
        f"Line {line}, {source!r}, makes {new} of {old}, {units.size(nbytes)}: something in it is"
        f" {new}.",
        f"give it in {old}; Python numbers promote nothing",
    )


def resharded(name: str, old: str, new: str) -> Note:
    """A result lies on devices in another way than the argument that it looks like."""
    return Note(
        "resharded",
        f"A result with the shape of {name} is cut as {new}, and {name} as {old}: if it is the"
        f" next call's {name}, that call compiles again, or copies.",
        "jax.jit(f, out_shardings=...), or jax.lax.with_sharding_constraint",
    )


def copy_built() -> Note:
    """A layer has no weights yet."""
    return Note("copy-built", "The layer is not built yet: a copy of it was built and looked at.")


def call_made(times: int) -> Note:
    """Looking at a call took making it."""
    return Note(
        "call-made",
        f"The call was made {'once' if times == 1 else f'{times} times'}, on copies of its tensors:"
        " behind a graph break Python goes on with values. What it changes outside of Python, such"
        " as files, is changed.",
        "",
        CHANGES_MEANING,
    )


def loops_once() -> Note:
    """A compiler does not multiply by the turns of a loop."""
    return Note(
        "loops-once",
        "A loop counts once for a compiler: estimate, work, bytes and what is exchanged hold one"
        " turn of each.",
        mark=CHANGES_MEANING,
    )


def no_estimate(names: Sequence[str]) -> Note:
    """Parts of a program are unknown to the compiler."""
    return Note(
        "no-estimate",
        f"The compiler cannot tell how long these take, and the estimate leaves them out:"
        f" {', '.join(names)}.",
        mark=CHANGES_MEANING,
    )


def nothing_cut(chip: str, devices: int) -> Note:
    """Several chips do the same."""
    return Note(
        "nothing-cut",
        f"Nothing is cut: each of the {devices} devices of {chip} holds and computes all of it.",
        "--shard x:0 cuts axis 0 of x into a part for each",
        CHANGES_MEANING,
    )


def stays_whole(names: Sequence[str], devices: int) -> Note:
    """Arrays of an argument that is cut cannot be cut."""
    return Note(
        "stays-whole",
        f"{', '.join(names)}: whole on each device, for want of an axis whose length"
        f" {devices} divides.",
    )


def padded(wasted: int, held: int, chip: str) -> Note:
    """Memory is there to fill tiles."""
    return Note(
        "padded",
        f"{units.percent(wasted / held)} of the inputs and outputs on {chip}, {units.size(wasted)},"
        " hold no data: they fill its tiles of 8 × 128 numbers.",
        "make the last axis a multiple of 128, and the one before of 8 (16 of 16 bits, 32 of 8)",
    )


def half_chips(chips: Sequence[str]) -> Note:
    """JAX takes a core for a device."""
    return Note(
        "half-chips",
        f"A chip of {', '.join(chips)} is two devices for JAX: figures are those of one.",
    )
