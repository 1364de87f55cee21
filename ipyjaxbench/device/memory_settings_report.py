"""How memory settings are shown: framework by framework, each with how to undo it."""

from ipyjaxbench import units
from ipyjaxbench.device.memory_settings import MemorySettings
from ipyjaxbench.reports import Block, Facts, Footer, Headline, Report, report


@report.register
def _(m: MemorySettings) -> Report:
    done = sum(bool(each.undo) for each in m.settings)
    figure = units.count(done, "setting") if done else "no setting"
    rows = []
    for each in m.settings:
        rows.append((each.framework, each.words))
        if each.undo:
            rows.append(("", f"undo: {each.undo}"))
    if m.note:
        rows.append(("note", m.note))
    headline = Headline("GPU memory", f"{figure} changed", m.asked, "", "")
    blocks: tuple[Block, ...] = (headline, Facts(tuple(rows)))
    return Report((*blocks, Footer((units.versions(m.frameworks),))) if m.frameworks else blocks)
