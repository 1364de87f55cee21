"""Pitfalls in a program, and what to know of the estimates by compilers of chips."""

from collections.abc import Sequence

from ipyjaxbench import units
from ipyjaxbench.reports import CHANGES_MEANING, GOOD_TO_KNOW, Note


def baked_in(shown: str, nbytes: int) -> Note:
    """A large array was captured."""
    return Note(
        "baked-in",
        f"The function captures {shown} ({units.size(nbytes)}) as a constant: each compilation"
        " holds a copy, and may fold it.",
        "pass it as an argument",
        CHANGES_MEANING,
    )


def unrolled(line: int, source: str, times: int, equations: int) -> Note:
    """A Python loop was traced turn by turn."""
    return Note(
        "unrolled",
        f"Unrolled loop: line {line}, {source!r}, was traced {times} times and became"
        f" {units.count(equations, 'equation')}, which compile slowly.",
        "jax.lax.fori_loop and jax.lax.scan trace the body once",
    )


def weak_output(names: Sequence[str]) -> Note:
    """A result gives way to other types."""
    which = ", ".join(names)
    return Note(
        "weak-output",
        f"The result ({which}) is weakly typed, like a Python number. Fed back as an argument, it"
        " causes a recompilation.",
        "use x.astype(x.dtype), or start from jnp.asarray(0.0, 'float32')",
    )


def called_back(names: Sequence[str]) -> Note:
    """The program calls Python, or moves data, while it runs."""
    return Note(
        "called-back",
        f"The program leaves the device at run time: {', '.join(names)}.",
        "remove this where speed matters",
        CHANGES_MEANING,
    )


def low_precision(dtypes: Sequence[str], products: int) -> Note:
    """Products of narrow numbers."""
    return Note(
        "low-precision",
        f"{units.count(products, 'product')} of {', '.join(dtypes)} accumulate in low precision:"
        " long sums lose digits.",
        "preferred_element_type='float32' accumulates in float32",
    )


def donated_unused(names: Sequence[str]) -> Note:
    """An argument's memory is given away for nothing."""
    return Note(
        "donated-unused",
        f"{', '.join(names)} is donated for nothing: no result has its shape and dtype, so its"
        " memory is not reused.",
        "remove it from donate_argnums",
    )


def key_reused(line: str) -> Note:
    """A random key is used twice."""
    return Note(
        "key-reused",
        f"A random key is used twice, and gives the same numbers both times: {line}",
        "split it: key, sub = jax.random.split(key), and use sub",
        CHANGES_MEANING,
    )


def tracer_kept(names: Sequence[str], *, put_back: bool, what: str = "tracer") -> Note:
    """The function keeps what it computes."""
    which = ", ".join(names)
    after = "The old value is restored." if put_back else "It could not be restored."
    return Note(
        "tracer-kept",
        f"The code stores a value in {which}. During tracing that is a {what} without data, which"
        f" fails when it is used later. {after}",
        "return the value instead",
        CHANGES_MEANING,
    )


def mixed_tree(names: Sequence[str]) -> Note:
    """An argument holds arrays, and other things too."""
    return Note(
        "mixed-tree",
        f"jax.jit rejects these parts of an argument: {', '.join(names)}. A pytree may hold only"
        " arrays and numbers.",
        "pass them as separate arguments, and make those static",
    )


def static_nan(names: Sequence[str]) -> Note:
    """A static argument is NaN."""
    return Note(
        "static-nan",
        f"{', '.join(names)} is static and NaN. NaN equals nothing, so each new one recompiles.",
        "pass an array, or None",
        CHANGES_MEANING,
    )


def changed_while_traced(names: Sequence[str], *, put_back: bool) -> Note:
    """The function changes something outside of itself."""
    which = ", ".join(names)
    after = "The old value is restored." if put_back else "It could not be restored."
    return Note(
        "changed-while-traced",
        f"The code modifies {which}. A compiled function does so during tracing only, not in each"
        f" call. {after}",
        "return the new value instead",
        GOOD_TO_KNOW if put_back else CHANGES_MEANING,
    )


def drawn_once(names: Sequence[str]) -> Note:
    """A random number is part of the program."""
    return Note(
        "drawn-once",
        f"A random number is drawn from {', '.join(names)} during tracing: it becomes a constant,"
        " the same in each call.",
        "use jax.random with a key that is an argument",
        CHANGES_MEANING,
    )


def recomputed(times: int) -> Note:
    """The backward pass computes things again."""
    return Note(
        "recomputed",
        f"jax.checkpoint recomputes {units.count(times, 'part')} in the backward pass, to save"
        " memory.",
    )


def promoted(line: int, source: str, old: str, new: str, nbytes: int) -> Note:
    """A line makes arrays wider without saying so."""
    return Note(
        "promoted",
        f"Line {line}, {source!r}, promotes {old} to {new} ({units.size(nbytes)}): one of its"
        f" operands is {new}.",
        f"make that operand {old}; Python numbers do not promote",
    )


def resharded(name: str, old: str, new: str) -> Note:
    """A result lies on devices in another way than the argument that it looks like."""
    return Note(
        "resharded",
        f"A result with the shape of {name} is sharded as {new}, and {name} as {old}. Fed back as"
        f" {name}, it causes a recompilation or a copy.",
        "use jax.jit(f, out_shardings=...), or jax.lax.with_sharding_constraint",
    )


def copy_built() -> Note:
    """A layer has no weights yet."""
    return Note("copy-built", "The layer is not built yet: a copy was built and traced.")


def call_made(times: int) -> Note:
    """Looking at a call took making it."""
    return Note(
        "call-made",
        f"The call ran {'once' if times == 1 else f'{times} times'}, on copies of its tensors:"
        " after a graph break Python needs values. Side effects outside Python, such as written"
        " files, remain.",
        "",
        CHANGES_MEANING,
    )


def loops_once() -> Note:
    """A compiler does not multiply by the turns of a loop."""
    return Note(
        "loops-once",
        "Compilers count one iteration of each loop: so do the estimated time, work, traffic and"
        " communication.",
        mark=CHANGES_MEANING,
    )


def no_estimate(names: Sequence[str]) -> Note:
    """Parts of a program are unknown to the compiler."""
    return Note(
        "no-estimate",
        f"The estimate excludes what the compiler cannot estimate: {', '.join(names)}.",
        mark=CHANGES_MEANING,
    )


def nothing_cut(chip: str, devices: int) -> Note:
    """Several chips do the same."""
    return Note(
        "nothing-cut",
        f"Fully replicated: each of the {devices} devices of {chip} holds and computes everything.",
        "--shard x:0 shards axis 0 of x",
        CHANGES_MEANING,
    )


def stays_whole(names: Sequence[str], devices: int) -> Note:
    """Arrays of an argument that is cut cannot be cut."""
    return Note(
        "stays-whole",
        f"Replicated on each device, since {devices} does not divide the axis: {', '.join(names)}.",
    )


def padded(wasted: int, held: int, chip: str) -> Note:
    """Memory is there to fill tiles."""
    return Note(
        "padded",
        f"{units.percent(wasted / held)} of the inputs and outputs on {chip} is padding"
        f" ({units.size(wasted)}), which fills its tiles of 8 × 128 numbers.",
        "make the last axis a multiple of 128, and the one before of 8 (of 16 for 16-bit, 32 for"
        " 8-bit dtypes)",
    )


def roofline_bound() -> Note:
    """No compiler estimates times of GPUs."""
    return Note(
        "roofline-bound",
        "≥ is a bound, no estimate: matrix products at the dense peak of the GPU, arguments and"
        " results at its memory bandwidth.",
    )


def half_chips(chips: Sequence[str]) -> Note:
    """JAX takes a core for a device."""
    return Note(
        "half-chips",
        f"JAX sees a {', '.join(chips)} chip as two devices: figures are for one of them.",
    )


def cached_is_stale(function: str, changes: str, advice: str) -> Note:
    """Calls run another program than the one that is shown."""
    return Note(
        "cached-is-stale",
        f"This is the code of now. Calls of {function} run another program, which was compiled"
        f" earlier: {changes}.",
        advice,
        CHANGES_MEANING,
    )
