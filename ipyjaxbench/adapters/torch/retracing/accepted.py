"""What the newest program takes of the arguments as it is: that did not cause another one."""

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import torch

from ipyjaxbench.adapters.torch.retracing import cache_key, guards
from ipyjaxbench.adapters.torch.retracing.callee import Entered, own_entries
from ipyjaxbench.retracing import PROPERTIES, Property

_MOST_COMPARED = 200_000  # pairs of a leaf and a condition; of larger models nothing is known
#: What PyTorch asks of a tensor; None stands for a size or stride that may vary.
_TENSOR = re.compile(
    r"^check_tensor\(.+, DispatchKeySet\((?P<keys>.*)\), (?P<dtype>torch\.\w+), "
    r"device=(?P<device>\w+), requires_grad=(?P<grad>\w+), "
    r"size=(?P<size>\[.*\]), stride=(?P<stride>\[.*\])\)$"
)
_TYPE = re.compile(r"^___check_type_id\(.+, (\d+)\)")
#: Conditions that are about no value, or hold for nearly all sizes that may vary.
_WIDE = re.compile(r"^hasattr\(|^check_no_aliasing\(|\.(?:size|stride|storage_offset)\(\)")


def accepted(entered: Entered) -> frozenset[Property]:
    """Return the paths and properties of leaves that meet all conditions of the newest program."""
    newest = next(iter(own_entries(entered)), None)
    manager = getattr(newest, "guard_manager", None)
    parts = getattr(manager, "code_parts", None)
    if not parts:
        return frozenset()
    leaves = cache_key.signature(entered).leaves
    if len(leaves) * len(parts) > _MOST_COMPARED:
        return frozenset()
    texts = [guards.spell(part, entered) for part in parts]
    return frozenset(
        (path, kind) for path in leaves for kind in PROPERTIES - {*_refused(path, texts, entered)}
    )


def _refused(path: str, texts: Sequence[str], entered: Entered) -> Iterator[str]:
    """Yield in what a leaf is not as the program takes it; where that is not known, in all."""
    name = path.removeprefix("global ")
    about = re.compile(rf"(?<![\w.\]]){re.escape(name)}(?![\w\[])")
    asked = [text for text in texts if name in text and about.search(text)]
    value = guards.value_at(name, entered) if asked else None
    for text in asked:
        yield from _refused_by(text, name, value)


def _refused_by(text: str, name: str, value: Any) -> Collection[str]:
    if tensor := _TENSOR.match(text):
        return [*_misfits(tensor, value)] if isinstance(value, torch.Tensor) else PROPERTIES
    if kind := _TYPE.match(text):
        return () if int(kind[1]) == id(type(value)) else PROPERTIES
    return () if text == f"{name} == {value!r}" or _WIDE.search(text) else PROPERTIES


def _misfits(expected: re.Match[str], tensor: torch.Tensor) -> Iterator[str]:
    device = tensor.device
    sizes, strides = (ast.literal_eval(text) for text in expected.group("size", "stride"))
    if str(tensor.dtype) != expected["dtype"]:
        yield "dtype"
    if str(device.index) != expected["device"] or device.type.upper() not in expected["keys"]:
        yield "device"
    if len(sizes) != tensor.dim():
        yield "rank"
    elif not _match(sizes, tensor.shape):
        yield "shape"
    if str(tensor.requires_grad) != expected["grad"] or not _match(strides, tensor.stride()):
        yield "layout"


def _match(wanted: Sequence[int | None], actual: Sequence[int]) -> bool:
    return len(wanted) == len(actual) and all(
        one in (None, other) for one, other in zip(wanted, actual, strict=True)
    )
