"""What the newest program takes of the arguments as it is: that did not cause another one."""

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import torch

from ipyjaxbench.adapters.torch.retracing import cache_key, conditions, guards
from ipyjaxbench.adapters.torch.retracing.callee import Entered, own_entries
from ipyjaxbench.retracing import PROPERTIES, Property

_STRUCTURE = "structure"
_ALL = PROPERTIES | {_STRUCTURE}  # of a container, that nothing came or went that is asked for
_MOST_COMPARED = 200_000  # pairs of a leaf and a condition; of larger models nothing is known
#: What PyTorch asks of a tensor; None stands for a size or stride that may vary.
_TENSOR = re.compile(
    r"^check_tensor\((?P<path>.+), (?P<type>\w+), DispatchKeySet\((?P<keys>.*)\), "
    r"(?P<dtype>torch\.\w+), "
    r"device=(?P<device>\w+), requires_grad=(?P<grad>\w+), "
    r"size=(?P<size>\[.*\]), stride=(?P<stride>\[.*\])\)$"
)
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
    asked = [
        _Condition(text, conditions.holds(part, manager, dict(entered.names)))
        for text, part in zip(texts, map(conditions.plain, parts), strict=True)
    ]
    return frozenset(
        (path, kind) for path in leaves for kind in _ALL - {*_refused(path, asked, entered)}
    )


class _Condition(NamedTuple):
    text: str  # with the user's own names
    holds: bool | None  # None where it is no expression


def _refused(path: str, asked: Sequence[_Condition], entered: Entered) -> Iterator[str]:
    """Yield in what a leaf is not as the program takes it; where that is not known, in all."""
    name = path.removeprefix("global ")
    mentions = re.compile(rf"(?<![\w.\]]){re.escape(name)}(?!\w)(?P<part>[\[.])?")
    value = guards.value_at(name, entered)
    for each in asked:
        mention = mentions.search(each.text) if name in each.text else None
        if mention is None:
            continue
        if mention["part"] is None:
            yield from _refused_by(each, value)
        elif isinstance(value, dict):
            yield _STRUCTURE  # PyTorch does not tell that it counts the keys
        elif not _WIDE.search(each.text) and not _is_met(each, entered):
            yield from (_STRUCTURE, "type")  # what is asked for in it may be gone


def _refused_by(condition: _Condition, value: Any) -> Collection[str]:
    if tensor := _TENSOR.match(condition.text):
        return [*_misfits(tensor, value)] if isinstance(value, torch.Tensor) else _ALL
    return () if condition.holds or _WIDE.search(condition.text) else _ALL


def _is_met(condition: _Condition, entered: Entered) -> bool:
    """Whether what a condition is about is there."""
    if tensor := _TENSOR.match(condition.text):
        return isinstance(guards.value_at(tensor["path"], entered), torch.Tensor)
    return condition.holds is not None


def _misfits(expected: re.Match[str], tensor: torch.Tensor) -> Iterator[str]:
    device = tensor.device
    sizes, strides = (ast.literal_eval(text) for text in expected.group("size", "stride"))
    if type(tensor).__name__ != expected["type"]:
        yield "type"
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
