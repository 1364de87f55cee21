"""The arguments that the newest program takes as they are: these did not cause another one."""

import ast
import re
from collections.abc import Sequence
from typing import Any

import torch

from ipyjaxbench.adapters.torch.retracing import cache_key, guards
from ipyjaxbench.adapters.torch.retracing.callee import Entered, own_entries

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


def accepted(entered: Entered) -> frozenset[str]:
    """Return the paths of leaves for which all conditions of the newest program hold."""
    newest = next(iter(own_entries(entered)), None)
    parts = getattr(getattr(newest, "guard_manager", None), "code_parts", None)
    if not parts:
        return frozenset()
    leaves = cache_key.signature(entered).leaves
    if len(leaves) * len(parts) > _MOST_COMPARED:
        return frozenset()
    texts = [guards.spell(part, entered) for part in parts]
    return frozenset(path for path in leaves if _is_accepted(path, texts, entered))


def _is_accepted(path: str, texts: Sequence[str], entered: Entered) -> bool:
    name = path.removeprefix("global ")
    about = re.compile(rf"(?<![\w.\]]){re.escape(name)}(?![\w\[])")
    asked = [text for text in texts if name in text and about.search(text)]
    return not asked or all(_holds(text, name, guards.value_at(name, entered)) for text in asked)


def _holds(text: str, name: str, value: Any) -> bool:
    """Whether a condition holds; no where that is not known."""
    if tensor := _TENSOR.match(text):
        return isinstance(value, torch.Tensor) and _fits(tensor, value)
    if kind := _TYPE.match(text):
        return int(kind[1]) == id(type(value))
    return text == f"{name} == {value!r}" or bool(_WIDE.search(text))


def _fits(expected: re.Match[str], tensor: torch.Tensor) -> bool:
    device = tensor.device
    pairs = zip(
        (expected["size"], expected["stride"]), (tensor.shape, tensor.stride()), strict=True
    )
    return (
        str(tensor.dtype) == expected["dtype"]
        and str(tensor.requires_grad) == expected["grad"]
        and str(device.index) == expected["device"]
        and device.type.upper() in expected["keys"]
        and all(_match(ast.literal_eval(wanted), actual) for wanted, actual in pairs)
    )


def _match(wanted: Sequence[int | None], actual: Sequence[int]) -> bool:
    return len(wanted) == len(actual) and all(
        one in (None, other) for one, other in zip(wanted, actual, strict=True)
    )
