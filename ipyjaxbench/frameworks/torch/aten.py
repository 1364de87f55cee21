"""A call as ATen operations: traced with tensors that have no data."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ipyjaxbench.expression import Call
from ipyjaxbench.frameworks.torch import given
from ipyjaxbench.frameworks.torch.found import Found
from ipyjaxbench.frameworks.torch.given import Given
from ipyjaxbench.frameworks.torch.program import Place, Program, is_users


def trace(call: Call) -> Found:
    """The ATen operations of a call.

    Args:
        call: a plain one; it is not made.

    Returns:
        The program; a module's parameters are inputs of their own.
    """
    inputs = given.with_state(call)
    with _places() as places:
        traced = _traced(inputs)
    return Found.whole(traced, Program(traced, _names(traced.graph, inputs), places))


def failure(call: Call) -> tuple[Exception | None, tuple[str, ...]]:
    """How tracing a call fails, and the arguments of which the last operation before is made."""
    inputs = given.with_state(call)
    with _places() as places:
        try:
            _traced(inputs)
        except Exception as error:  # noqa: BLE001  it is what is asked for
            last = next(reversed(places), None)
            names = _made_of(last, inputs) if last is not None else ()
            own = set(given.of(call).names)
            return error, tuple(name for name in names if name in own)
    return None, ()


def _traced(inputs: Given) -> Any:
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx

    mode = FakeTensorMode(allow_non_fake_inputs=True)
    with mode:
        fakes = [mode.from_tensor(tensor) for tensor in inputs.tensors]
        return make_fx(_of_tensors(inputs), tracing_mode="real")(*fakes)


def _names(graph: Any, inputs: Given) -> dict[Any, str]:
    placeholders = (node for node in graph.nodes if node.op == "placeholder")
    return dict(zip(placeholders, inputs.names, strict=False))


def _made_of(node: Any, inputs: Given) -> tuple[str, ...]:
    names, found, waiting = _names(node.graph, inputs), {node}, [node]
    while waiting:
        new = set(waiting.pop().all_input_nodes) - found
        found |= new
        waiting += new
    return tuple(name for placeholder, name in names.items() if placeholder in found)


def _of_tensors(inputs: Given) -> Callable[..., Any]:
    """The call as a function of its tensors alone."""

    def of_tensors(*tensors: Any) -> Any:
        args, kwargs = inputs.with_tensors(tensors)
        result = inputs.function(*args, **kwargs)
        return [t for t in pytree.tree_leaves(result) if isinstance(t, torch.Tensor)]

    return of_tensors


@contextmanager
def _places() -> Iterator[dict[Any, Place]]:
    """Gets file and line of each operation as it is traced.

    PyTorch's own record of them keeps frames of functions called ``forward`` alone.
    """
    from torch.fx.experimental.proxy_tensor import PythonKeyTracer

    found: dict[Any, Place] = {}
    own = vars(PythonKeyTracer).get("create_node")
    plain = PythonKeyTracer.create_node

    def create_node(self: Any, *args: Any, **kwargs: Any) -> Any:
        node = plain(self, *args, **kwargs)
        found[node] = _users_line()
        return node

    PythonKeyTracer.create_node = create_node
    try:
        yield found
    finally:
        if own is None:
            del PythonKeyTracer.create_node
        else:
            PythonKeyTracer.create_node = own


def _users_line() -> Place:
    """The innermost line that is not PyTorch's, up to the call."""
    frame: Any = sys._getframe(2)
    top = _of_tensors.__code__.co_filename
    while frame is not None and frame.f_code.co_filename != top:
        if is_users(frame.f_code.co_filename):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return "", 0
