"""Copies that the code makes between frameworks and between host and devices."""

import ast
from collections.abc import Collection, Iterator, Sequence

from ipyjaxbench import notes
from ipyjaxbench.notes import Note
from ipyjaxbench.placed import Placement

#: What brings data to the host, and what takes it to a device, by the name that is called.
_TO_HOST = {"numpy", "cpu", "item", "tolist", "device_get"}
_TO_DEVICE = {"cuda", "device_put"}
#: What makes an array on the CPU of the memory that another one has.
_SHARES = {"from_numpy", "as_tensor", "from_dlpack"}
_HOST = "numpy"


def copies_made(
    statements: Sequence[ast.stmt],
    inputs: Sequence[Placement],
    outputs: Sequence[Placement],
    kept: Collection[str] = (),
) -> Iterator[Note]:
    """What is copied in every call, as far as the code and its values show it.

    On a CPU device most crossings share memory, and only what is seen to own its memory counts.

    Args:
        statements: the code.
        inputs: where the values live that it reads.
        outputs: where the values live that it gives.
        kept: names of arrays that cross once only, since they keep their copy.

    Returns:
        A Note for each direction.
    """
    named = {called(node) for node in ast.walk(ast.Module(list(statements), []))}
    device_in = [p for p in inputs if p.framework != _HOST]
    device_out = [p for p in outputs if p.framework != _HOST]
    # Python's objects stay where they are.
    host_in = [p for p in inputs if p.framework == _HOST and p.dtype != "object"]
    host_out = [p for p in outputs if p.framework == _HOST]
    copied = [p for p in host_out if not p.view]
    crossing = _is_far([p for p in device_in if p.name not in kept])
    if device_in and (copied or (crossing and (host_out or named & _TO_HOST))):
        size = sum(p.nbytes for p in host_out) or None
        yield notes.copies(f"the result comes to the host from {_where(device_in)}", size)
    taken = host_in and device_out and not named & _SHARES
    if taken or (_is_far(device_out) and named & _TO_DEVICE):
        size = sum(p.nbytes for p in host_in) or None
        names = ", ".join(p.name for p in host_in) or "data"
        yield notes.copies(f"{names} may go from the host to {_where(device_out)}", size)


def _is_far(placements: Sequence[Placement]) -> bool:
    """Whether any lives outside of the host's memory."""
    return any(not device.startswith("cpu") for p in placements for device in p.devices)


def called(node: ast.AST) -> str:
    """The last name of what a node calls, as ``asarray`` of ``np.asarray(x)``; "" elsewhere."""
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _where(placements: Sequence[Placement]) -> str:
    devices = sorted({f"{p.framework} {d}" for p in placements for d in p.devices})
    return ", ".join(devices) or "a device"
