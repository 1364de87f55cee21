"""Copies between frameworks and between host and devices, made in each call or made once."""

import ast
import re
from collections.abc import Collection, Iterator, Sequence

from ipyjaxbench.device import ArrayInspector
from ipyjaxbench.frameworks import Framework, Placement, Scope
from ipyjaxbench.reports import Note
from ipyjaxbench.timing.validity import notes
from ipyjaxbench.usercode import called_name, nodes_of

#: What brings data to the host, and what takes it to a device, by the name that is called.
_TO_HOST = {"numpy", "cpu", "item", "tolist", "device_get"}
_TO_NUMPY = {"asarray", "array"}
_TO_DEVICE = {"cuda", "device_put"}
#: What makes an array on the CPU of the memory that another one has.
_SHARES = {"from_numpy", "as_tensor", "from_dlpack"}
_HOST = "numpy"
#: What makes a NumPy array or a Python number of what it is given, or of what it is called on.
_CONVERTS = {"asarray", "array", "device_get", "float", "int", "bool", "complex"}
_CONVERTS_SELF = {"tolist", "item"}


def check_copies(
    statements: Sequence[ast.stmt],
    inputs: Sequence[Placement],
    outputs: Sequence[Placement],
    kept: Collection[str] = (),
) -> Iterator[Note]:
    """Note what is copied in every call in each direction, as far as the code and values show it.

    On a CPU device most crossings share memory, and only what is seen to own its memory counts.
    ``kept`` are names of arrays that cross once only, since they keep their copy.
    """
    bound = {name for each in statements for name in _names(each, ast.Store)}
    known, to_host, to_device = list(inputs), [], []
    for statement in statements:
        bound_here = _names(statement, ast.Store)
        is_last = statement is statements[-1]
        made = [p for p in outputs if p.name in bound_here or (is_last and p.name not in bound)]
        step = _Step(statement, known, made, kept)
        to_host += [step] if step.comes_to_host() else []
        to_device += [step] if step.goes_to_device() else []
        known = [p for p in known if p.name not in bound_here] + made
    if to_host:
        sources = [p for step in to_host for p in step.device_in]
        size = sum(p.nbytes for step in to_host for p in step.host_out) or None
        yield notes.copies(f"the result is copied to the host from {_where(sources)}", size)
    if to_device:
        taken = {p.name: p for step in to_device for p in step.host_in}
        size = sum(p.nbytes for p in taken.values()) or None
        names = ", ".join(taken) or "data"
        places = _where([p for step in to_device for p in step.device_out])
        yield notes.copies(f"{names} may be copied from the host to {places}", size)


class _Step:
    """One statement, with the arrays that it reads and gives."""

    def __init__(
        self,
        statement: ast.stmt,
        known: Sequence[Placement],
        made: Sequence[Placement],
        kept: Collection[str],
    ) -> None:
        names = _names(statement, ast.Load, ast.Store)
        read = [p for p in known if _root(p.name) in names]
        self._kept = kept
        self._called = {called_name(node) for node in ast.walk(statement)}
        self.device_in = [p for p in read if p.framework != _HOST]
        self.device_out = [p for p in made if p.framework != _HOST]
        # Python's objects stay where they are.
        self.host_in = [p for p in read if p.framework == _HOST and p.dtype != "object"]
        self.host_out = [p for p in made if p.framework == _HOST]
        on_device = {_root(p.name) for p in self.device_in}
        on_host = {_root(p.name) for p in self.host_in}
        # What stands side by side, as in `a + 1, f(x)`, has nothing to do with each other.
        parts = [_names(each, ast.Load) for each in _side_by_side(statement)]
        apart = not any(on_device & part and on_host & part for part in parts)
        self._made_on_host = apart and any(on_host & part for part in parts)
        self._made_on_device = apart and any(on_device & part for part in parts)

    def comes_to_host(self) -> bool:
        """Whether what is on a device is copied to the host."""
        copied = [p for p in self.host_out if not p.view]
        asked = bool(self._called & (_TO_HOST | _TO_NUMPY))
        if not self.device_in or (self._made_on_host and not asked):
            return False
        crossing = _is_far([p for p in self.device_in if p.name not in self._kept])
        fetched = crossing and (self.host_out or self._called & _TO_HOST)
        return bool(copied or fetched)

    def goes_to_device(self) -> bool:
        """Whether what is on the host is copied to a device."""
        taken = self.host_in and self.device_out and not self._called & _SHARES
        if taken and not self._made_on_device:
            return True
        return _is_far(self.device_out) and bool(self._called & _TO_DEVICE)


def _names(node: ast.AST, *contexts: type[ast.expr_context]) -> set[str]:
    names = (each for each in ast.walk(node) if isinstance(each, ast.Name))
    return {each.id for each in names if isinstance(each.ctx, contexts)}


def _side_by_side(statement: ast.stmt) -> Sequence[ast.AST]:
    value = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
    return value.elts if isinstance(value, ast.Tuple | ast.List) else [statement]


def _root(name: str) -> str:
    """The name that an expression such as ``model.layers[0]`` begins with."""
    return re.split(r"\W", name, maxsplit=1)[0]


def _is_far(placements: Sequence[Placement]) -> bool:
    """Whether any lives outside of the host's memory."""
    return any(not device.startswith("cpu") for p in placements for device in p.devices)


def _where(placements: Sequence[Placement]) -> str:
    devices = sorted({f"{p.framework} {d}" for p in placements for d in p.devices})
    return ", ".join(devices) or "a device"


def check_cached_copies(
    scope: Scope, remade: Collection[str], frameworks: Sequence[Framework], per_call: float
) -> Iterator[Note]:
    """Note arrays whose conversion takes more than all of a call: all but the first find a copy."""
    for name, framework in converted_arrays(scope, frameworks).items():
        inspector = framework.capability(ArrayInspector)
        taken = None if name in remade else inspector.conversion(scope.read_values[name])
        if taken and taken[0] - taken[1] > per_call:
            yield notes.copy_kept(name, taken[0])


def converted_arrays(scope: Scope, frameworks: Sequence[Framework]) -> dict[str, Framework]:
    """Names of arrays that keep the copy that the code makes of them, with their frameworks."""
    names = _converted_names(scope.snippet.statements) - set(scope.snippet.binds)
    values = {name: scope.read_values[name] for name in sorted(names & scope.read_values.keys())}
    return {n: f for n, v in values.items() for f in frameworks
            if f.keeps_copies and f.owns(type(v))}  # fmt: skip


def _converted_names(statements: Sequence[ast.stmt]) -> set[str]:
    """Names whose values the code makes NumPy arrays or Python numbers of."""
    calls = [n for n in nodes_of(statements) if isinstance(n, ast.Call)]
    operands = [c.args[0] for c in calls if c.args and called_name(c) in _CONVERTS]
    owners = [c.func.value for c in calls
              if isinstance(c.func, ast.Attribute) and c.func.attr in _CONVERTS_SELF]  # fmt: skip
    return {node.id for node in (*operands, *owners) if isinstance(node, ast.Name)}
