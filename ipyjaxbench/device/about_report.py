"""How versions and devices are shown: below the magics, each with what it does."""

from ipyjaxbench.device.about import About
from ipyjaxbench.purposes import MAGICS
from ipyjaxbench.reports import Calls, Code, Report, report


@report.register
def _(a: About) -> Report:
    magics = Calls(("magic", "what it does"), tuple(MAGICS.items()))
    return Report((magics, Code("text", a.text)))
