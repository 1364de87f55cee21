"""After how many calls a compilation is paid back: what this session measured, by function."""

import ast
import dataclasses
import weakref
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType

from ipyjaxbench.frameworks import Framework, Scope, find_arrays, find_compiler
from ipyjaxbench.timing.compile_cost import Counterpart
from ipyjaxbench.timing.measurement import Measurement
from ipyjaxbench.usercode import is_exactly, look_up, only_value

_MAX_REMEMBERED = 500  # figures remembered; the oldest go first
_NO_STEADY_STATE = ("ONCE", "RECOMPILES")
_PLAIN = (type(None), bool, int, float, complex, str, bytes)

#: Arguments of one call, by what they are and not by their values; hashable.
_Signature = tuple[object, ...]


@dataclass(frozen=True)
class _Figure:
    """What is kept of a measurement: numbers, and no array."""

    per_call: float
    half_width: float
    compilation: float | None


@dataclass
class _Known:
    """What was measured of one function with one signature."""

    function: weakref.ref[object]
    figures: dict[bool, _Figure] = field(default_factory=dict)  # by whether it was compiled


_known: OrderedDict[tuple[int, _Signature], _Known] = OrderedDict()


def add_break_even(
    scope: Scope, measured: Measurement, frameworks: Sequence[Framework]
) -> Measurement:
    """Remember a measurement of one call, and add what was measured of its counterpart before."""
    if measured.verdict in _NO_STEADY_STATE:
        return measured
    call = only_value(scope.snippet.statements)
    function = _function(call.func, scope.read_values) if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or function is None:
        return measured
    compiler = find_compiler(function, frameworks)
    compiled = compiler is not None
    function = function if compiler is None else compiler.original(function)
    known = _remembered(function, _signature(call, scope.read_values, frameworks))
    if known is None:
        return measured
    before = known.figures.get(compiled)
    compilation = _compilation(measured) or (before.compilation if before else None)
    figure = _Figure(measured.median, measured.half_width, compilation)
    known.figures[compiled] = figure
    other = known.figures.get(not compiled)
    spent = (figure if compiled else other or figure).compilation
    if other is None or spent is None:
        return measured
    width = None if other.half_width == float("inf") else other.half_width
    counterpart = Counterpart(not compiled, other.per_call, width, spent)
    return dataclasses.replace(measured, counterpart=counterpart)


def _function(node: ast.expr, values: Mapping[str, object]) -> object | None:
    """Return what is called by name or as ``module.name``: a method depends on its object too."""
    owner = look_up(node.value, values) if isinstance(node, ast.Attribute) else None
    named = isinstance(node, ast.Name) or issubclass(type(owner), ModuleType)
    return look_up(node, values) if named else None


def _remembered(function: object, signature: _Signature | None) -> _Known | None:
    """Return the place for a function's figures; None where it cannot be held weakly."""
    if signature is None:
        return None
    try:
        reference = weakref.ref(function)
    except TypeError:
        return None
    key = id(function), signature
    if key not in _known or _known[key].function() is not function:
        _known[key] = _Known(reference)
    _known.move_to_end(key)
    while len(_known) > _MAX_REMEMBERED:
        _known.popitem(last=False)
    return _known[key]


def _compilation(measured: Measurement) -> float | None:
    """Return the seconds that compiling took: in the first call, or in the cold one."""
    loaded = any(program.origin == "disk cache" for program in measured.programs)
    first = {} if loaded else measured.phases  # loading is not what compiling costs
    cold = measured.fresh
    calls = [(measured.first_call, first), *([(cold.seconds, cold.phases)] if cold else [])]
    for total, phases in calls:
        if phases and None not in phases.values():
            return sum(seconds or 0.0 for seconds in phases.values())
        if phases and total is not None:
            return max(total - measured.median, 0.0)
    return None


def _signature(
    call: ast.Call, values: Mapping[str, object], frameworks: Sequence[Framework]
) -> _Signature | None:
    """Return arguments by types and shapes; None where one is not known without running code."""
    parts: list[object] = []
    for key, node in [*((None, a) for a in call.args), *((k.arg, k.value) for k in call.keywords)]:
        outline: tuple[object, ...] | None = None
        if isinstance(node, ast.Name) and node.id in values:
            outline = _outline(values[node.id], frameworks)
        elif isinstance(node, ast.Constant):
            outline = (type(node.value), repr(node.value))
        if outline is None:
            return None
        parts.append((key, *outline))
    return tuple(parts)


def _outline(value: object, frameworks: Sequence[Framework]) -> tuple[object, ...] | None:
    if is_exactly(value, *_PLAIN):
        return type(value), repr(value)
    places = [(f.name, f.placement(array)) for f, array in find_arrays(value, frameworks)]
    arrays = tuple((name, place.dtype, place.shape, place.devices) for name, place in places)
    return (type(value), arrays) if arrays else None
