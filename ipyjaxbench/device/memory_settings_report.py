"""How memory settings are shown: framework by framework, each with how to undo it."""

from ipyjaxbench import units
from ipyjaxbench.device.memory_settings import MemorySettings
from ipyjaxbench.reports import Facts, Headline, Report, report


@report.register
def _(m: MemorySettings) -> Report:
    done = sum(bool(each.undo) for each in m.settings)
    headline = Headline(
        f"%fwdevices {m.asked}",
        units.count(done, "setting"),
        "",
        "SET" if done else "NOTHING",
        "",
    )
    rows = []
    for each in m.settings:
        rows.append((each.framework, each.words))
        if each.undo:
            rows.append(("", f"undo: {each.undo}"))
    if m.note:
        rows.append(("", m.note))
    return Report((headline, Facts(tuple(rows))))
