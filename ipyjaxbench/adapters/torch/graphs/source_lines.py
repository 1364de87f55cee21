"""From which line of the user's code an operation comes, as it is traced."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ipyjaxbench.adapters.torch.graphs import fake_tensors
from ipyjaxbench.adapters.torch.graphs.program import is_outside_torch, is_own_file


@contextmanager
def record_lines() -> Iterator[list[Any]]:
    """Give each operation the user's line as its stack trace while it is traced.

    PyTorch's own record keeps the frames of functions called ``forward`` alone.

    Yields:
        The operations, in the order in which they are traced.
    """
    from torch.fx.experimental.proxy_tensor import PythonKeyTracer

    nodes: list[Any] = []
    own = vars(PythonKeyTracer).get("create_node")
    plain = PythonKeyTracer.create_node

    def create_node(self: Any, *args: Any, **kwargs: Any) -> Any:
        node = plain(self, *args, **kwargs)
        node.stack_trace = _users_line() or node.stack_trace
        nodes.append(node)
        return node

    PythonKeyTracer.create_node = create_node
    try:
        yield nodes
    finally:
        if own is None:
            del PythonKeyTracer.create_node
        else:
            PythonKeyTracer.create_node = own


def _users_line() -> str:
    """Return the innermost line that is not PyTorch's, up to the call that we make."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if is_own_file(code.co_filename) and code.co_filename != fake_tensors.__file__:
            break  # the call that we make
        if is_outside_torch(code.co_filename):
            return f'File "{code.co_filename}", line {frame.f_lineno}, in {code.co_name}'
        frame = frame.f_back
    return ""
