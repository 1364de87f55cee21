"""The parts of the benchmark: each module of this folder has one, or several."""

from importlib import import_module

from tests.accuracy.section import Section

#: In the order in which they run.
_MODULES = """
truth peers speed precision coverage hidden background decisions noisy verdicts equal turns ordinary
peaks memory network ranks engines loops claims overhead trace_files programs graphs watched stale
left places loading history benchmarks live passes disk_misses held
"""

SECTIONS: dict[str, Section] = {
    each.name: each
    for module in _MODULES.split()
    for each in vars(import_module(f"{__name__}.{module}")).values()
    if isinstance(each, Section)
}
