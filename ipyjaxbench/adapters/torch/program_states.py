"""What calls change of programs: nodes of `torch.fx`, and attributes of scripted modules."""

from collections.abc import Iterator
from typing import Any

import torch

from ipyjaxbench.frameworks import ClassNames, MemberNames, State, attribute_states
from ipyjaxbench.usercode import attributes, is_exactly, is_of, mro_of

_PLAIN = (type(None), bool, int, float, complex, str, torch.dtype, torch.device)


class ScriptAttributes(State):
    """Attributes of a module of TorchScript that Python does not hold: numbers, lists, tensors."""

    def _read(self) -> dict[str, tuple[Any, Any]]:
        held, types = self._target._c, self._target._concrete_type.get_attributes()
        found = {name: held.getattr(name) for name in types if held.hasattr(name)}
        return {name: (value, _shape(value)) for name, value in found.items()}

    @property
    def parts(self) -> list[Any]:
        """Tensors, also those in lists, which are handed out as new lists each time."""
        return [value for value, _ in self._before.values()]

    def changed(self) -> bool:
        """Whether one holds something else now."""
        return bool(self._others())

    def restore(self) -> None:
        """Set the old ones."""
        for name in self._others():
            self._target._c.setattr(name, self._before[name][0])

    def _others(self) -> list[str]:
        now = self._read()
        return [n for n, (_, shape) in self._before.items() if n in now and now[n][1] != shape]


def _shape(value: Any) -> Any:
    """Return what differs where a value that is handed out anew differs from the one before."""
    if is_exactly(value, *_PLAIN):
        return type(value).__name__, repr(value)
    if is_of(value, dict):
        return [(_shape(key), _shape(each)) for key, each in value.items()]
    if is_of(value, list, tuple):
        return [*map(_shape, value)]
    return id(value) if is_of(value, torch.Tensor) else None


def program_states(value: Any) -> Iterator[State] | None:
    """Return what a node, a module of nodes or a scripted one holds; None of other values."""
    kind = type(value)
    if issubclass(kind, torch.fx.Node):
        return _node_states(value)
    if issubclass(kind, torch.fx.GraphModule):
        return _traced_states(value)
    is_scripted = issubclass(kind, torch.jit.RecursiveScriptModule)
    return _scripted_states(value) if is_scripted else None


def _node_states(node: Any) -> Iterator[State]:
    base = getattr(torch._C, "_NodeBase", None)  # before 2.6 they were attributes
    yield from attribute_states(node)
    if base is not None and base in mro_of(type(node)):
        yield MemberNames(node, base)


def _traced_states(module: Any) -> Iterator[State]:
    yield from attribute_states(module)
    yield ClassNames(type(module))  # one of its own, which gets its `forward` from the nodes


def _scripted_states(module: Any) -> Iterator[State]:
    yield from attribute_states(module)
    if attributes(module).get("_concrete_type") is not None:
        yield ScriptAttributes(module)
