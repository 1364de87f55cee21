"""``%%fwcompare``."""

from __future__ import annotations

import ast
import shlex
from typing import TYPE_CHECKING

from ipyjaxbench.comparison import cell as arms
from ipyjaxbench.errors import OptionError
from ipyjaxbench.jupyter.errors import one_line_errors
from ipyjaxbench.jupyter.invocation import Typed
from ipyjaxbench.jupyter.present import as_far_as_it_went, hand_over, screen_for
from ipyjaxbench.jupyter.screen import MutedShell, Screen
from ipyjaxbench.usercode.snippet import Snippet

if TYPE_CHECKING:
    from ipyjaxbench.comparison.arm import ArmSpec
    from ipyjaxbench.comparison.comparison import Comparison
    from ipyjaxbench.comparison.options import CompareOptions
    from ipyjaxbench.comparison.sweep import Sweep
    from ipyjaxbench.timing.measurement import Measurement


def fwcompare(typed: Typed[CompareOptions]) -> Comparison | Sweep | None:
    """Compare arms of a cell, or measurements that were kept."""
    __tracebackhide__ = True
    result: Comparison | Sweep
    raised: BaseException | None = None
    with one_line_errors():
        chosen, shown, rest = typed.split()
        screen = screen_for(typed, shown)
        if typed.cell is None:
            result = _of_kept(rest, chosen, typed.session.kept)
        else:
            typed.body(rest)
    if typed.cell is not None:
        result, raised = _in_turns(typed, typed.cell, chosen, screen)
        typed.session.keep(result)
    with one_line_errors():
        return hand_over(typed, shown, result, screen, raised=raised)  # type: ignore[no-any-return]


def _of_kept(text: str, chosen: CompareOptions, kept: dict[str, Measurement]) -> Comparison:
    """Measurements that ``%fwtime --name`` kept, one against the others."""
    from ipyjaxbench.comparison.comparison import ArmResult, Comparison

    if chosen.sweep or chosen.align or chosen.budget is not None:
        raise OptionError("--sweep, --align and -b go with a cell of arms, not with kept names")
    labels = shlex.split(text)
    for label in labels:
        if label not in kept:
            known = ", ".join(kept) or "none yet"
            raise OptionError(f"{label!r} was not kept by %fwtime --name; kept are: {known}")
    chosen.check(labels)
    sides = tuple(ArmResult(label, kept[label]) for label in labels)
    return Comparison(sides, chosen.baseline or labels[0], interleaved=False)


def _in_turns(
    typed: Typed[CompareOptions], cell: str, chosen: CompareOptions, screen: Screen
) -> tuple[Comparison | Sweep, BaseException | None]:
    """The arms of a cell, at each value of what is swept, and what ended or failed."""
    __tracebackhide__ = True
    from ipyjaxbench.comparison.interleave import compare_snippets
    from ipyjaxbench.comparison.name_bindings import restored
    from ipyjaxbench.comparison.run_sweep import sweep_snippets, values_of

    shell, names = typed.shell, typed.names
    with one_line_errors():
        setup, entries = _entries(typed, cell)
        chosen.check([entry.label for entry in entries])
        swept = {n: values_of(n, text, names) for n, text in chosen.sweep}
    with (
        screen,
        one_line_errors(),
        restored([setup] if setup else [entries[0].snippet]),
        screen.progress("first calls") as on_progress,
    ):
        if swept:
            return as_far_as_it_went(
                sweep_snippets,
                *(setup, entries, swept, chosen),
                muted=lambda: MutedShell(shell),
                on_progress=on_progress,
            )
        if setup is not None:
            setup.run()
        return as_far_as_it_went(
            compare_snippets, entries, chosen, muted=MutedShell(shell), on_progress=on_progress
        )


def _entries(typed: Typed[CompareOptions], cell: str) -> tuple[Snippet | None, list[ArmSpec]]:
    """What a comparison's cell holds: what runs before all, and the arms."""
    from ipyjaxbench.comparison.arm import ArmSpec

    shell, above = typed.shell, "\n" * typed.above
    text = typed.transformed(arms.transformed(cell, shell.transform_cell))
    filename = typed.filename(above + text)

    def parse(code: str) -> ast.Module:
        tree: ast.Module = shell.transform_ast(ast.parse(above + code, filename))
        return tree

    read = arms.read(text, parse, filename, shell.compile.flags)
    entries = [
        ArmSpec(
            arm.label,
            Snippet(arm.source, typed.names),
            Snippet(arm.setup, typed.names) if arm.setup else None,
        )
        for arm in read.arms
    ]
    return Snippet(read.setup, typed.names) if read.setup else None, entries
