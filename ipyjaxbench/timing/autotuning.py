"""What of the first call's compiling was running candidates of kernels, to choose the fastest."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import Autotuned, Framework, Scope
from ipyjaxbench.timing.known_calls import KnownCall, find_known_calls
from ipyjaxbench.timing.measurement import Measurement

_MAX_PROGRAMS = 4
_LEAST_SECONDS = 0.1  # of compiling, from which on it is looked for


def add_autotuned(
    measured: Measurement, scope: Scope, frameworks: Sequence[Framework]
) -> Measurement:
    """Add the kernels of a GPU that were tuned, by the programs that the first call compiled.

    What frameworks count themselves is there already.
    """
    places = (*measured.inputs, *measured.outputs)
    if (measured.phases.get("compile") or 0.0) < _LEAST_SECONDS:
        return measured
    if not any(place.on_gpu for place in places):
        return measured
    names = {program.name for program in measured.programs if program.origin == "compiled"}
    kernels: dict[str, Counter[str]] = {}
    for call in islice(find_known_calls(scope, frameworks), _MAX_PROGRAMS):
        if _name(call) in names:
            names.discard(_name(call))
            framework = call.compiler.framework.name
            kernels.setdefault(framework, Counter()).update(_kernels(call))
    found = [Autotuned(name, each.total(), dict(each)) for name, each in kernels.items() if each]
    return replace(measured, autotuned=(*measured.autotuned, *found))


def _name(call: KnownCall) -> str:
    """Return the name that the program of a call has."""
    return str(getattr(call.compiler.original(call.function), "__name__", ""))


def _kernels(call: KnownCall) -> Counter[str]:
    try:
        return Counter(call.compiler.autotuned(call.function, *call.arguments()))
    except CODE_ERRORS:  # arguments may be gone by now, or are not known
        return Counter()
