"""``%fwdevices``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ipyjaxbench.errors import OptionError
from ipyjaxbench.jupyter.errors import one_line_errors
from ipyjaxbench.jupyter.invocation import Typed
from ipyjaxbench.jupyter.present import hand_over, screen_for

if TYPE_CHECKING:
    from ipyjaxbench.device.ceilings import Ceilings
    from ipyjaxbench.device.memory_settings import MemorySettings
    from ipyjaxbench.device.options import DeviceOptions
    from ipyjaxbench.device.placement import Whereabouts
    from ipyjaxbench.device.transfers import Transfers


def fwdevices(
    typed: Typed[DeviceOptions],
) -> Whereabouts | Transfers | MemorySettings | Ceilings | None:
    """Say where everything lives, and what a cell copies."""
    __tracebackhide__ = True
    with one_line_errors():
        chosen, shown, rest = typed.split()
        chosen.check(rest, typed.cell)
        screen = screen_for(typed, shown)
        doing = "measuring" if chosen.peak else "running" if typed.cell else "looking"
        with screen, screen.progress(doing):
            result, raised = _found(typed, rest, chosen)
        return hand_over(typed, shown, result, screen, raised=raised)  # type: ignore[no-any-return]


def _found(
    typed: Typed[DeviceOptions], rest: str, chosen: DeviceOptions
) -> tuple[Whereabouts | Transfers | MemorySettings | Ceilings, BaseException | None]:
    """What was asked for, and what the code raised."""
    __tracebackhide__ = True
    from ipyjaxbench.device.locate import evaluated, locate, survey
    from ipyjaxbench.device.measure_ceilings import ceilings
    from ipyjaxbench.device.watch_transfers import transfer_code

    if chosen.sets:
        return _set(chosen, typed.body(rest).strip()), None
    if chosen.peak:
        return ceilings(start=chosen.start, fresh=chosen.fresh), None
    if typed.cell is not None:
        return transfer_code(typed.source(typed.body(rest)), typed.names)
    hidden = typed.shell.user_ns_hidden
    mine = {name: value for name, value in typed.names.items() if name not in hidden}
    if rest:
        values = evaluated(typed.names, rest, typed.source, like=mine)
        return locate(values, start=chosen.start), None
    return survey(mine, start=chosen.start), None


def _set(chosen: DeviceOptions, code: str) -> MemorySettings:
    """What is asked of frameworks alone, best before any of them has looked for devices."""
    from ipyjaxbench.device.set_memory import set_memory

    if code:
        raise OptionError(
            f"{code.splitlines()[0]!r}: --no-prealloc and --mem-fraction stand alone: type"
            " %fwdevices with them first, and this after that"
        )
    return set_memory(prealloc=chosen.prealloc, fraction=chosen.fraction)
