"""``%fwdevices``."""

from ipyjaxbench.device import (
    DeviceOptions,
    Held,
    MemorySettings,
    Peaks,
    Transfers,
    Whereabouts,
    collect_peaks,
    locate,
    set_memory,
    survey,
    transfer_code,
)
from ipyjaxbench.errors import OptionError
from ipyjaxbench.jupyter.invocation import Invocation
from ipyjaxbench.reports import Result
from ipyjaxbench.usercode import evaluate_expressions


def fwdevices(
    magic: Invocation[DeviceOptions],
) -> Result | None:
    """Show where arrays live, and what a cell copies."""
    __tracebackhide__ = True
    magic.options.check(magic.code, magic.cell)
    if magic.options.engines is not None:
        with magic.screen.progress("asking engines"):
            found = _ask_engines(magic, magic.options.engines)
        return magic.present(found)
    doing = "measuring" if magic.options.peak else "running" if magic.cell else "looking up devices"
    with magic.screen.progress(doing):
        result, raised = _inspect(magic)
    return magic.present(result, raised)


def _ask_engines(magic: Invocation[DeviceOptions], chosen: str) -> Result:
    """Return where the values of engines live, or how fast they exchange data."""
    __tracebackhide__ = True
    from ipyjaxbench import cluster

    options = magic.options
    if magic.cell is not None:
        raise OptionError("--engines takes expressions on its line: %fwdevices --engines all x")
    members = cluster.find_members(cluster.find_engines(chosen, magic.names), options.timeout)
    if options.peak:
        return cluster.measure_peaks_on_engines(
            members, options.timeout, start=options.start, remeasure=options.remeasure
        )
    return cluster.locate_on_engines(members, magic.code, start=options.start)


def _inspect(
    magic: Invocation[DeviceOptions],
) -> tuple[Whereabouts | Transfers | MemorySettings | Peaks | Held, BaseException | None]:
    """Return what was asked for, and what the code raised."""
    __tracebackhide__ = True
    options = magic.options
    if options.sets:
        return _set_memory(options, magic.body.strip()), None
    if options.looks_for_holders:
        from ipyjaxbench.jupyter.held import find_held

        return find_held(magic), None
    if options.peak:
        return collect_peaks(start=options.start, remeasure=options.remeasure), None
    if magic.cell is not None:
        return transfer_code(magic.source(magic.body), magic.names)
    hidden = magic.shell.user_ns_hidden
    visible = {name: value for name, value in magic.names.items() if name not in hidden}
    if magic.code:
        values = evaluate_expressions(magic.names, magic.code, magic.source, like=visible)
        return locate(values, start=options.start), None
    return survey(visible, start=options.start), None


def _set_memory(options: DeviceOptions, code: str) -> MemorySettings:
    """Set what frameworks decide by themselves, best before any of them has devices."""
    if code:
        raise OptionError(
            f"{code.splitlines()[0]!r}: --no-prealloc and --mem-fraction take no code. Set the"
            " memory first, then run the code."
        )
    return set_memory(prealloc=options.prealloc, fraction=options.fraction)
