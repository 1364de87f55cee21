"""How versions and devices are shown: the magics, and a block to copy into a bug report."""

from ipyjaxbench.device.about import About
from ipyjaxbench.purposes import MAGICS
from ipyjaxbench.reports import Calls, Code, Footer, Headline, Report, report


@report.register
def _(a: About) -> Report:
    facts = dict(a.facts)
    headline = Headline("", f"ipyjaxbench {facts.get('ipyjaxbench', '')}", _with(facts), "", "")
    magics = Calls(("magic", "what it does"), tuple(MAGICS.items()))
    # A fence, so that a page that takes Markdown keeps the lines.
    copied = Code("text", f"```text\n{a.text}\n```")
    return Report((headline, magics, copied, Footer(("Copy this block into a bug report.",))))


def _with(facts: dict[str, str]) -> str:
    """Return Python's version, and those of the frameworks that are imported."""
    names = ("python", "jax", "torch", "tensorflow", "numpy")
    shown = [name for name in names if "not imported" not in facts.get(name, "not imported")]
    return " · ".join(f"{name} {_number(facts[name])}" for name in shown)


def _number(fact: str) -> str:
    """Return the version in front of a fact: some packages of a framework have other names."""
    words = fact.replace(",", " ").split()
    return next((word for word in words if word[0].isdigit()), "")
