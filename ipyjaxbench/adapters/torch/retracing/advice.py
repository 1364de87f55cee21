"""What to write so that torch.compile does not compile a function again."""

import re
from collections.abc import Sequence

from ipyjaxbench.retracing import Change

_SIZES = re.compile(r"\[([\d,]*)\]")
_SIZE = re.compile(r"size (\d+) of (.+)")
#: What an optimizer has for a group of parameters.
_OPTION = re.compile(r"\.param_groups\[\d+\]\['(\w+)'\](?:\[\d\])?$")
_FIXES = {
    "function": "Call torch.compile once and reuse its result: redefined code is compiled again",
    "rank": "Always pass `{path}` with the same number of axes",
    "dtype": "Always pass `{path}` with the same dtype: `.to(...)` before the call",
    "type": "Always pass `{path}` as the same type",
    "device": "Keep `{path}` on one device: `.to(device)` before the call",
    "structure": "Keep the same keys and lengths in every call",
    "static value": "Each new `{path}` needs its own program: choose it outside the compiled"
    " function",
    "number": "Pass `{path}` as a tensor (`torch.tensor({path})`): its value is then not guarded",
    "setting": "Always call `{name}` with the same {path}",
}
_DYNAMIC = "`torch.compile(..., dynamic=True)`"
_LIMIT = "If all these programs are needed, raise `torch._dynamo.config.recompile_limit`"


def fixes(name: str, why: Sequence[Change]) -> tuple[str, ...]:
    """Return what to write, by what changed in calls of this function; raising the limit last."""
    texts = [_fix(name, change) for change in why if change.path != "limit"]
    if any(change.path == "limit" for change in why):
        texts.append(_LIMIT)
    return tuple(filter(None, dict.fromkeys(texts)))


def _fix(name: str, change: Change) -> str:
    path, kind = change.path, change.kind
    if path.endswith(" of torch.compile"):
        return "Call torch.compile once, and reuse what it returns"
    if option := _OPTION.search(path):
        return _option_fix(option[1], change)
    if kind == "shape":
        return _shape_fix(change)
    if kind == "layout":
        return _layout_fix(change)
    if kind != "number" and path.endswith(".training"):
        model = path.partition(".")[0].replace("self", "model")
        return f"Call `{model}.eval()` or `{model}.train()` once, before all calls"
    if path.startswith("global "):
        return f"Pass `{path.removeprefix('global ')}` as an argument, as a tensor if it changes"
    if kind == "number" and {change.old, change.new} <= {"True", "False"}:
        return f"Each `{path}` needs its own program: keep it constant, or use torch.where"
    return _FIXES[kind].format(name=name, path=path) if kind in _FIXES else ""


def _option_fix(option: str, change: Change) -> str:
    tensors = {
        "lr": f"`lr=torch.tensor({change.old})`",
        "betas": "`betas=(torch.tensor(beta1), torch.tensor(beta2))`, as Adam and AdamW allow",
    }
    if option in tensors:
        return f"Create the optimizer with {tensors[option]}: a tensor's value is not guarded"
    return f"Keep the optimizer's `{option}` as it is: each new value needs its own program"


def _shape_fix(change: Change) -> str:
    path, axes = change.path, _changed_axes(change.old, change.new)
    if size := _SIZE.fullmatch(path):
        axes, path = [int(size[1])], size[2]
    if not axes:
        return f"Use {_DYNAMIC}"
    marked = axes[0] if len(axes) == 1 else axes
    return (
        f"Use {_DYNAMIC}, or `torch._dynamo.mark_dynamic({path}, {marked})` before the first call"
    )


def _changed_axes(old: str, new: str) -> list[int]:
    sizes = [match[1].split(",") for text in (old, new) if (match := _SIZES.search(text))]
    if len(sizes) != 2:
        return []
    return [axis for axis, (one, other) in enumerate(zip(*sizes, strict=True)) if one != other]


def _layout_fix(change: Change) -> str:
    path = change.path.rpartition(" of ")[2]
    if "requires_grad" in f"{change.old} {change.new}":
        return f"Pass `{path}` always with, or always without, requires_grad"
    return f"Call `{path}.contiguous()` before the call"
