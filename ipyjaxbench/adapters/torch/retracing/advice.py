"""What to write so that torch.compile does not compile a function again."""

import re
from collections.abc import Sequence

from ipyjaxbench.retracing import Change

_SIZES = re.compile(r"\[([\d,]*)\]")
_SIZE = re.compile(r"size (\d+) of (.+)")
_FIXES = {
    "function": "{name} = torch.compile(...) once, above: code that is defined anew is compiled"
    " anew",
    "rank": "give {path} always with as many axes",
    "dtype": "give {path} always with the same dtype: .to(...) before the call",
    "type": "give {path} always as the same type",
    "device": "give {path} always on the same device: .to(device) before the call",
    "structure": "keep the same keys and lengths in each call",
    "static value": "one program for each {path}: choose it outside of the compiled function",
    "number": "{path} as a tensor, as in torch.tensor({path}): its value is then not looked at",
    "setting": "call {name} always with the same {path}",
}
_DYNAMIC = "torch.compile(..., dynamic=True)"
_LIMIT = "torch._dynamo.config.recompile_limit, raised, only where all these programs are needed"


def fixes(name: str, why: Sequence[Change]) -> tuple[str, ...]:
    """Return what to write, by what changed in calls of this function; raising the limit last."""
    texts = [_fix(name, change) for change in why if change.path != "limit"]
    if any(change.path == "limit" for change in why):
        texts.append(_LIMIT)
    return tuple(filter(None, dict.fromkeys(texts)))


def _fix(name: str, change: Change) -> str:
    path, kind = change.path, change.kind
    if kind == "shape":
        return _shape_fix(change)
    if kind == "layout":
        return _layout_fix(change)
    if kind != "number" and path.endswith(".training"):
        model = path.partition(".")[0].replace("self", "model")
        return f"{model}.eval() or {model}.train() once, before all calls"
    if path.startswith("global "):
        return f"give {path.removeprefix('global ')} as an argument, a tensor where it changes"
    if kind == "number" and {change.old, change.new} <= {"True", "False"}:
        return f"one program for each {path}: keep it the same, or use torch.where on a tensor"
    return _FIXES[kind].format(name=name, path=path) if kind in _FIXES else ""


def _shape_fix(change: Change) -> str:
    path, axes = change.path, _changed_axes(change.old, change.new)
    if size := _SIZE.fullmatch(path):
        axes, path = [int(size[1])], size[2]
    if not axes:
        return _DYNAMIC
    marked = axes[0] if len(axes) == 1 else axes
    return f"torch._dynamo.mark_dynamic({path}, {marked}) before the first call, or {_DYNAMIC}"


def _changed_axes(old: str, new: str) -> list[int]:
    sizes = [match[1].split(",") for text in (old, new) if (match := _SIZES.search(text))]
    if len(sizes) != 2:
        return []
    return [axis for axis, (one, other) in enumerate(zip(*sizes, strict=True)) if one != other]


def _layout_fix(change: Change) -> str:
    path = change.path.rpartition(" of ")[2]
    if "requires_grad" in f"{change.old} {change.new}":
        return f"give {path} always with, or always without, requires_grad"
    return f"{path}.contiguous() before the call"
