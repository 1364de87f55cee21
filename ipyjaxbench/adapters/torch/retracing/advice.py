"""What to write so that torch.compile does not compile a function again."""

import re
from collections.abc import Callable, Mapping, Sequence

from ipyjaxbench.adapters.torch.retracing.global_hooks import HOOK
from ipyjaxbench.adapters.torch.retracing.guards import BETWEEN
from ipyjaxbench.adapters.torch.retracing.uncompiled import SKIPPED
from ipyjaxbench.retracing import Change

_SIZES = re.compile(r"\[([\d,]*)\]")
_NUMBERED = re.compile(r"\.(\d+)\b")
_SIZE = re.compile(r"size (\d+) of (.+)")
_FEW, _GUARDED_FEW = ("0", "1"), re.compile(r"^guard failed: 2 <= (.+)\.size\(\)\[\d+\]$")
_OF_FEW = (
    "PyTorch makes programs of their own for sizes 0 and 1, also with `dynamic=True`: pad `{}` to 2"
    " or more"
)
#: An item of a list, and what has another length where PyTorch tells no more.
_ITEM, _GUARDED_LENGTH = re.compile(r"\[\d+\]$"), re.compile(r"^guard failed: len\((.+)\) == \d+$")
_LENGTH = "A program has the length of `{}`"
#: What an optimizer has for a group of parameters.
_OPTION = re.compile(r"\.param_groups\[\d+\]\['(\w+)'\](?:\[\d\])?$")
#: Where a program lacks hooks: from then on PyTorch looks for them in each call.
_HOOKS = (
    "set `torch._dynamo.config.skip_nnmodule_hook_guards = False`, then `torch.compiler.reset()`"
)
#: Where it lacks one of all modules: no setting has PyTorch look for these.
_RENEW = "call `torch.compiler.reset()`"
_FIXES = {
    "function": "Call torch.compile once and reuse its result: redefined code is compiled again",
    "rank": "Always pass `{path}` with the same number of axes",
    "type": "Always pass `{path}` as the same type",
    "device": "Keep `{path}` on one device: `.to(device)` before the call",
    "static value": "Each new `{path}` needs its own program: choose it outside the compiled"
    " function",
    "number": "Pass `{path}` as a tensor (`torch.tensor({path})`): its value is then not guarded",
    "setting": "Always call `{name}` with the same {path}",
}
_DYNAMIC = "`torch.compile(..., dynamic=True)`"
_RESET = "`torch._dynamo.reset()`"  # before it, a function that was given up stays so
_LIMITS = {
    "limit": "If all these programs are needed, raise `torch._dynamo.config.recompile_limit`, and"
    f" run {_RESET}",
    "raised limit": f"Run {_RESET}, so that the new limit counts",
}


def how_to_renew(why: Sequence[Change]) -> str:
    """Return what to do where a program lacks hooks."""
    is_of_all = bool(why) and all(each.path == HOOK for each in why)
    return _RENEW if is_of_all else _HOOKS


def fixes(name: str, why: Sequence[Change]) -> tuple[str, ...]:
    """Return what to write, by what changed in calls of this function; raising the limit last."""
    texts = [_fix(name, change) for change in why if change.path not in _LIMITS]
    texts += [_LIMITS[change.path] for change in why if change.path in _LIMITS]
    return tuple(filter(None, dict.fromkeys(texts)))


def _fix(name: str, change: Change) -> str:
    path, kind = change.path, change.kind
    if kind == "stale":
        renew = how_to_renew([change])
        return renew[:1].upper() + renew[1:]
    if path.endswith(" of torch.compile"):
        return "Call torch.compile once, and reuse what it returns"
    if option := _OPTION.search(path):
        return _option_fix(option[1], change)
    if kind in _BY_KIND:
        return _BY_KIND[kind](change)
    if path.endswith(".training"):
        model = path.partition(".")[0].replace("self", "model")
        return f"Call `{model}.eval()` or `{model}.train()` once, before all calls"
    if path.startswith("global ") and kind in _FIXES:
        return _global_fix(change)
    return _FIXES[kind].format(name=name, path=_typed(path)) if kind in _FIXES else ""


def _number_fix(change: Change) -> str:
    path = change.path
    if path.startswith("global "):
        return _global_fix(change)
    if {change.old, change.new} <= {"True", "False"}:
        return f"Each `{path}` needs its own program: keep it constant, or use torch.where"
    if "." not in path:
        return _FIXES["number"].format(path=path)
    typed = _typed(path)  # one advice, whatever the values
    return f"Keep a tensor in `{typed}`, as `torch.tensor({typed})`: its value is then not guarded"


def _global_fix(change: Change) -> str:
    path = change.path.removeprefix("global ")
    return f"Pass `{path}` as an argument, as a tensor if it changes"


def _dtype_fix(change: Change) -> str:
    convert = ".astype(...)" if "NumPy" in f"{change.old} {change.new}" else ".to(...)"
    return f"Always pass `{change.path}` with the same dtype: `{convert}` before the call"


def _typed(path: str) -> str:
    """Return a path as it is typed: PyTorch names parts of a module by numbers too."""
    return _NUMBERED.sub(r"[\1]", path)


def _structure_fix(change: Change) -> str:
    """Return what to do with what has another length, or what something came to or went from."""
    path = change.path.removeprefix("global ")
    if change.old.startswith("length ") or (not change.old and _ITEM.search(path)):
        path = _ITEM.sub("", path) if not change.old else path
        return (
            f"{_LENGTH.format(path)}: pad it to one length, or use one tensor"
            f" (`t = torch.stack({path})`) with `torch._dynamo.mark_dynamic(t, 0)`, which does not"
            " work for lists"
        )
    path = path if change.old else path[: max(path.rfind("["), path.rfind("."), 0)] or path
    return f"Keep `{path}` as it is in every call: keys, lengths and attributes are guarded"


def _guard_fix(change: Change) -> str:
    if change.path == SKIPPED:
        return "Run `torch.compiler.reset()`, so that PyTorch tries again"
    if change.new.startswith(BETWEEN):
        return "Keep it a tensor, without `.item()` or Python's functions: then it is not guarded"
    if few := _GUARDED_FEW.search(change.new):
        return _OF_FEW.format(_typed(few[1]))
    length = _GUARDED_LENGTH.search(change.new)
    return f"{_LENGTH.format(length[1])}: keep it at one length" if length else ""


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
    if "Parameter" in f"{change.old} {change.new}":
        return f"A program has the sizes of its parameters: keep those of `{_typed(path)}`"
    if _is_between_few(change, axes):
        return _OF_FEW.format(_typed(path))
    if not axes or "NumPy" in f"{change.old} {change.new}" or not path.isidentifier():
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


def _is_between_few(change: Change, axes: Sequence[int]) -> bool:
    """Whether each size that changed is or was 0 or 1, which no option has PyTorch leave open."""
    if _SIZE.fullmatch(change.path):
        return not {change.old, change.new}.isdisjoint(_FEW)
    sizes = [found[1].split(",") for found in map(_SIZES.search, (change.old, change.new)) if found]
    return bool(axes) and all(any(each[axis] in _FEW for each in sizes) for axis in axes)


def _layout_fix(change: Change) -> str:
    path = change.path.rpartition(" of ")[2]
    if "requires_grad" in f"{change.old} {change.new}":
        return f"Pass `{path}` always with, or always without, requires_grad"
    return f"Call `{path}.contiguous()` before the call"


_BY_KIND: Mapping[str, Callable[[Change], str]] = {
    "shape": _shape_fix,
    "layout": _layout_fix,
    "dtype": _dtype_fix,
    "structure": _structure_fix,
    "number": _number_fix,
    "guard": _guard_fix,
}
