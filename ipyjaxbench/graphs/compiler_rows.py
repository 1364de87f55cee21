"""What compilers say of a program, as rows and a table: this machine's, and those of chips."""

from collections.abc import Iterator, Sequence

from ipyjaxbench import units
from ipyjaxbench.graphs.compiled import (
    Collective,
    Compiled,
    CountDifference,
    Estimate,
    Kernels,
    LibraryCalls,
)
from ipyjaxbench.reports import Block, Details, Table

Rows = Iterator[tuple[str, str]]
_MAX_KERNELS, _MAX_NAME, _MAX_DOES, _MAX_WORDS = 5, 20, 3, 22
#: By the reasons of a `CountDifference`.
_REASONS = {
    "complex": "in complex arithmetic (XLA counts a complex operation as one)",
    "turns": "in later iterations (XLA counts a loop's body once)",
    "unused": "in unused results, which XLA removes",
    "constant": "in constants, which XLA folds",
}


def compiled_row(compiled: Compiled, *, captures: bool) -> str:
    """Return what this machine's compiler counts.

    Args:
        compiled: its account.
        captures: whether arrays are part of the program, which are then held beside temporaries.
    """
    parts = [units.flops(compiled.flops)] if compiled.flops is not None else []
    if compiled.moved is not None:
        parts.append(f"{units.size(int(compiled.moved))} of memory traffic")
    what = "captured arrays and temporaries" if captures else "temporaries"
    between = f" ({units.size(compiled.temporary)} for {what})"
    parts.append(f"{units.size(compiled.memory)} peak memory{between * bool(compiled.temporary)}")
    why = compiled.why if isinstance(compiled.why, str) else _explain(compiled.why)
    return f"{', '.join(parts)}{f'. {why}' if why else ''}"


def _explain(difference: CountDifference) -> str:
    """Return why the compiler counts something else than the program's own count."""
    ours = "" if difference.ours is None else units.flops(difference.ours)
    if difference.devices > 1:
        total = f"; the whole program has {ours}" if ours else ""
        return f"Per device, of {difference.devices}{total}."
    if difference.reasons:
        parts = (f"{units.flops(flops)} {_REASONS[reason]}" for reason, flops in difference.reasons)
        return f"The program has {ours}: {'; '.join(parts)}."
    if difference.uncounted:
        ours = f"{ours}, not counting {', '.join(difference.uncounted)}"
        if difference.left > 0:
            return f"The program has {ours}."
    left = units.flops(abs(difference.left))
    if difference.rewritten and difference.left > 0:
        names = ", ".join(difference.rewritten)
        return f"The program has {ours}; XLA adds {left}, since it computes {names} differently."
    if difference.libraries:
        names = ", ".join(difference.libraries)
        return f"The program has {ours}; XLA does not count {left} in library calls ({names})."
    how = "adds" if difference.left > 0 else "omits"
    return f"The program has {ours}; XLA {how} {left}, for unknown reasons."


def library_rows(libraries: Sequence[LibraryCalls]) -> Rows:
    """Yield what a compiled program leaves to libraries, in one row; none where it is nothing."""
    if libraries:
        yield "library calls", "; ".join(map(_library, libraries))


def _library(calls: LibraryCalls) -> str:
    flops = f", {units.flops(calls.flops)}" if calls.flops else ""
    return f"{calls.times:,} {calls.name}{flops}"


def communication_rows(collectives: Sequence[Collective], where: str = "") -> Rows:
    """Yield what devices send each other, in one row; none where they send nothing."""
    if collectives:
        parts = (f"{each.times} {each.name} {units.size(each.nbytes)}" for each in collectives)
        yield "communication", f"{where}{', '.join(parts)} per device"


def estimate_rows(estimates: Sequence[Estimate]) -> Rows:
    """Yield what the table of estimates has no room for."""
    for each in estimates:
        if each.error:
            yield each.chip, each.error
        elif is_too_large(each):
            needed = units.size(each.memory) if each.memory else "more than that"
            yield each.chip, f"too large: {units.size(each.limit)} of memory, needs {needed}"
        yield from communication_rows(each.collectives, f"{each.chip}: ")
    if any(map(_is_here, estimates)):
        left_out = any(each.collectives for each in estimates)
        remark = " Estimates exclude communication between devices." if left_out else ""
        yield "time here", f"Measure it with %fwtime.{remark}"


def estimate_table(estimates: Sequence[Estimate]) -> Table:
    """Return a row for each chip, the machine of this Python last."""
    head = ("chip", "time", "work", "traffic", "memory", "padding")
    several = ", per chip" if any(map(_are_several, estimates)) else ""
    caption = f"compiler estimates{several}; nothing was executed"
    return Table(caption, head, tuple(map(_row, estimates)), folded=False)


def _row(each: Estimate) -> tuple[str, ...]:
    """Return a row; where several chips work together it is that of one."""
    is_known = not (each.error or is_too_large(each))
    word = "failed" if each.error else "too large"
    if is_known:
        seconds = "none" if each.seconds is None else units.duration(each.seconds)
        seconds = seconds if each.kernels is None else f"≥ {seconds}"
        word = "?" if _is_here(each) else seconds
    unknown = "?" if is_known else ""
    needed = units.size(each.memory) if each.memory else "more" if word == "too large" else ""
    return (
        each.chip,
        word,
        unknown if each.flops is None else units.flops(each.flops),
        unknown if each.moved is None else units.size(int(each.moved)),
        f"{needed} of {units.size(each.limit)}" if needed and each.limit else needed,
        units.size(each.padding) if is_known and _has_tiles(each) else "",
    )


def _are_several(each: Estimate) -> bool:
    is_gpu, number = each.chip.startswith("gpu:"), each.chip.rpartition("x")[2]
    return number.isdigit() if is_gpu else each.chip.count(":") > 1


def _has_tiles(each: Estimate) -> bool:
    """Whether the chip pads arrays to tiles in memory, as TPUs do."""
    return not _is_here(each) and each.kernels is None


def _is_here(each: Estimate) -> bool:
    return each.chip.startswith("here")


def is_too_large(each: Estimate) -> bool:
    """Whether it does not fit, by what its compiler says or by what it needs."""
    is_refused = each.memory == 0 and each.moved is None and not each.error
    return is_refused or 0 < each.limit < each.memory


def kernel_tables(estimates: Sequence[Estimate]) -> Iterator[Block]:
    """Yield the largest kernels on each GPU; the first GPU's are shown, the others' folded."""
    shown = [each for each in estimates if each.kernels is not None and not is_too_large(each)]
    tables = [_kernel_table(each.chip, each.kernels) for each in shown if each.kernels]
    yield from tables[:1]
    if len(tables) > 1:
        yield Details("kernels on the other GPUs", tuple(tables[1:]), printed=False)


def _kernel_table(chip: str, kernels: Kernels) -> Table:
    libraries = f", {kernels.libraries:,} of libraries" if kernels.libraries else ""
    count = units.count(kernels.launches, "kernel")
    together = f"≥ {units.duration(kernels.seconds)} with all values in memory"
    rows = [
        (
            _shorten(each.library.strip("_") or each.name, _MAX_NAME),
            units.percent(each.seconds / kernels.seconds) if kernels.seconds else "?",
            f"{each.times:,}×",
            _shorten(", ".join(each.does[:_MAX_DOES]), _MAX_WORDS),
            units.flops(each.flops) if each.flops else "",
            units.size(each.nbytes),
        )
        for each in kernels.largest[:_MAX_KERNELS]
    ]
    head = ("kernel", "share", "runs", "does", "products", "traffic")
    return Table(f"{chip}: {count}{libraries}, {together}", head, tuple(rows), folded=False)


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
