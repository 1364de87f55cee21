"""``%%fwcompare``."""

import ast
import shlex
from dataclasses import replace

from ipyjaxbench.comparison import (
    ArmResult,
    ArmSpec,
    CompareOptions,
    Comparison,
    Sweep,
    compare_snippets,
    names_restored,
    read_cell,
    sweep_snippets,
    transform_arms,
    values_of,
)
from ipyjaxbench.errors import OptionError
from ipyjaxbench.jupyter.errors import measure_until_stopped
from ipyjaxbench.jupyter.fwcompare_many import sweep_engines, sweeps_engines
from ipyjaxbench.jupyter.invocation import Invocation
from ipyjaxbench.jupyter.screen import MutedShell
from ipyjaxbench.usercode import Snippet
from ipyjaxbench.validation import kept_name


def fwcompare(magic: Invocation[CompareOptions]) -> Comparison | Sweep | None:
    """Compare arms of a cell, or measurements that were kept."""
    __tracebackhide__ = True
    if magic.cell is None:
        return magic.present(_compare_kept(magic))
    result: Comparison | Sweep
    if sweeps_engines(magic):
        result, raised = sweep_engines(magic, *_arm_specs(magic, magic.body, fewest=1))
    else:
        result, raised = _compare_arms(magic, magic.body)
    magic.session.keep(result, magic.options.name or "")
    return magic.present(result, raised)


def _compare_kept(magic: Invocation[CompareOptions]) -> Comparison:
    """Compare measurements that ``%fwtime --name`` kept, one with the others."""
    options, measurements = magic.options, magic.session.measurements
    if options.baseline is not None:
        options = replace(options, baseline=kept_name(options.baseline))
    if refused := options.needs_cell():
        raise OptionError(f"{refused} needs a cell of arms: it cannot be used with kept results")
    labels = [kept_name(name) for name in shlex.split(magic.code)]
    for label in labels:
        if label not in measurements:
            known = f"the names are {', '.join(measurements)}"
            none = f"keep one with  %fwtime --name {label}"
            if not label.isidentifier() and "(" in label:
                none = known = "to time code, type a line for each arm below %%fwcompare"
            raise OptionError(f"no result is named {label!r}: {known if measurements else none}")
    options.check_names(labels)
    baseline = options.baseline or labels[0]
    runs = [magic.session.interleaved.get(label, (None, "")) for label in labels]
    first, _ = runs[0]
    if first is not None and all(run is first for run, _ in runs):
        arms = (own for _, own in runs)
        return first.choose(dict(zip(arms, labels, strict=True)), baseline)
    sides = tuple(ArmResult(label, measurements[label]) for label in labels)
    return Comparison(sides, baseline, interleaved=False)


def _compare_arms(
    magic: Invocation[CompareOptions], cell: str
) -> tuple[Comparison | Sweep, BaseException | None]:
    """Compare the arms of a cell, at each value of what is swept; return also what ended it."""
    __tracebackhide__ = True
    shell, names, options = magic.shell, magic.names, magic.options
    setup, specs = _arm_specs(magic, cell)
    options.check([spec.label for spec in specs])
    swept = {n: values_of(n, text, names) for n, text in options.sweep}
    with (
        names_restored([setup] if setup else [specs[0].snippet]),
        magic.progress("first calls") as on_progress,
    ):
        if swept:
            return measure_until_stopped(
                sweep_snippets,
                *(setup, specs, swept, options),
                muted=lambda: MutedShell(shell),
                on_progress=on_progress,
            )
        if setup is not None:
            setup.run()
        return measure_until_stopped(
            compare_snippets, specs, options, muted=MutedShell(shell), on_progress=on_progress
        )


def _arm_specs(
    magic: Invocation[CompareOptions], cell: str, fewest: int = 2
) -> tuple[Snippet | None, list[ArmSpec]]:
    """Return what a comparison's cell holds: what runs before all, and the arms."""
    shell, above = magic.shell, "\n" * magic.above
    text = magic.transformed(transform_arms(cell, shell.transform_cell))
    filename = magic.filename(above + text)

    def parse(code: str) -> ast.Module:
        tree: ast.Module = shell.transform_ast(ast.parse(above + code, filename))
        return tree

    read = read_cell(text, parse, filename, shell.compile.flags, fewest=fewest)
    specs = [
        ArmSpec(
            arm.label,
            Snippet(arm.source, magic.names),
            Snippet(arm.setup, magic.names) if arm.setup else None,
        )
        for arm in read.arms
    ]
    return Snippet(read.setup, magic.names) if read.setup else None, specs
