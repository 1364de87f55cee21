"""The condition that failed when dynamo looked for a program, in plain words."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ipyjaxbench.adapters.torch.retracing import cache_key
from ipyjaxbench.adapters.torch.retracing.callee import Entered, entries
from ipyjaxbench.retracing import Change

_ID = re.compile(r"^\d+/\d+(?:_\d+)?: ")
_COMMENT = re.compile(r"\s{2,}# .*$")
_TENSOR = re.compile(
    r"^tensor '(?P<path>.+?)' (?P<what>[\w ]+?) mismatch(?: at index (?P<axis>\d+))?"
    r"\. expected (?P<old>.+?)(?:, actual (?P<new>.+))?$"
)
_TYPE = re.compile(r"^expected type of '(?P<path>.+?)' to be a tensor type.*? found <class '(.+)'>")
_EQUAL = re.compile(r"^(?P<path>[^=<>!]+?) == (?P<old>.+)$")
_STATE = re.compile(r"^GLOBAL_STATE changed: (?P<what>\w+)")
_GLOBAL, _LOCAL = re.compile(r"G\['(\w+)'\]"), re.compile(r"L\['(\w+)'\]")
_PART = re.compile(r"\._(?:modules|parameters|buffers)\['(\w+)'\]")
_AROUND = re.compile(r"\bargs\[(\d+)\]")
#: What is another object, or of another type, than it was.
_OBJECT = re.compile(r"^___check_(?P<what>obj|type)_id\((?P<path>[^,]+), .*$")
_ROOT = re.compile(r"[A-Za-z_]\w*")
#: The module that PyTorch's own function is around, as guards name it.
_MODULE = re.compile(r"^fn(?=\.)")


_NEGATED = {"True": "False", "False": "True"}


@dataclass(frozen=True)
class Guard:
    """A condition that did not hold.

    Attributes:
        change: what it comes to.
        is_in_signature: whether it is about something that signatures hold too.
    """

    change: Change
    is_in_signature: bool


def failing(entered: Entered) -> list[Guard]:
    """For each program that was there the first condition that fails, the newest program first.

    Nothing is run. Empty where PyTorch does not tell.
    """
    found = []
    for entry in entries(entered.code):
        check = getattr(entry.guard_manager, "check_verbose", None)
        told = check(dict(entered.names)) if check is not None else None
        parts: Sequence[str] = () if told is None or told.result else told.verbose_code_parts
        found += [read(part, entered) for part in parts[:1]]
    return found


def would_miss(entered: Entered) -> bool | None:
    """Whether a call would find none of the programs that are there; None where that is unknown.

    Of the rest of a function behind a break nothing is known.
    """
    found = entries(entered.code)
    for entry in found:
        check = getattr(entry.guard_manager, "check_verbose", None)
        if check is None:
            return None
        if check(dict(entered.names)).result:
            broken = any(name.startswith("__resume_at") for name in entry.code.co_names)
            return None if broken else False
    return True


def read(reason: str, entered: Entered | None = None) -> Guard:
    """PyTorch's reason, which has the condition in its first line.

    Example:
        >>> read("0/0: tensor 'x' size mismatch at index 0. expected 4, actual 8").change.words()
        'size 0 of x: 4 → 8 (shape)'
    """
    text = _COMMENT.sub("", _ID.sub("", reason.strip()).partition("\n")[0]).strip()
    if state := _STATE.match(text):
        what = state["what"].replace("_", " ")
        return Guard(Change("guard", new=f"{what} changed"), is_in_signature=True)
    if text.startswith("BACKEND_MATCH"):
        return Guard(
            Change("guard", new="another backend for the same code"), is_in_signature=False
        )
    names = _GLOBAL.findall(text)
    plain = _spelled(text, entered)
    root = _ROOT.search(_path(plain))
    change = _change(plain, entered, names)
    is_in_signature = entered is not None and (
        root is not None and root[0] in entered.arguments
        if not names
        else all(f"global {name}" in dict(cache_key.around(entered.function)) for name in names)
    )
    return Guard(change, is_in_signature)


def _path(text: str) -> str:
    found = _TENSOR.match(text) or _OBJECT.match(text) or _TYPE.match(text)
    return found["path"] if found else text.removeprefix("not ").removeprefix("len(")


def _spelled(text: str, entered: Entered | None) -> str:
    """With the user's own names."""
    plain = _PART.sub(r".\1", _LOCAL.sub(r"\1", _GLOBAL.sub(r"\1", text)))
    labels = () if entered is None else entered.labels
    plain = _MODULE.sub("self", plain) if labels else plain
    return _AROUND.sub(
        lambda found: labels[int(found[1])] if int(found[1]) < len(labels) else found[0], plain
    )


def _change(text: str, entered: Entered | None, names: Sequence[str]) -> Change:
    if tensor := _TENSOR.match(text):
        return _of_tensor(tensor)
    kind = "global " if names else ""
    if other := _OBJECT.match(text):
        what = "another object" if other["what"] == "obj" else "of another type"
        return Change("guard", f"{kind}{other['path']}", new=f"{kind}{other['path']} is {what}")
    if other := _TYPE.match(text):
        return Change("type", other["path"], "a tensor", other[2])
    equal = _EQUAL.match(text)
    if equal and equal["old"] in _NEGATED:
        return Change(
            "static value", f"{kind}{equal['path']}", equal["old"], _NEGATED[equal["old"]]
        )
    if equal and equal["path"].isidentifier() and entered is not None:
        name = equal["path"]
        where = entered.function.__globals__ if names else entered.names
        if name in where and isinstance(where[name], bool | int | float | complex | str):
            now = where[name]
            sort = "static value" if isinstance(now, str) else "number"
            return Change(sort, f"{kind}{name}", equal["old"], repr(now))
    return Change("guard", f"{kind}{_path(text)}", new=f"{kind}{text} no longer holds")


def _of_tensor(found: re.Match[str]) -> Change:
    path, what, axis, old, new = found.groups()
    if what == "requires_grad":
        return Change("layout", path, *_requires("requires_grad=1" in old))
    if what in ("size", "stride"):
        kind = "shape" if what == "size" else "layout"
        return Change(kind, f"{what} {axis} of {path}", old, new or "?")
    kind = what if what in ("dtype", "rank") else "guard"
    if kind == "guard":
        return Change("guard", path, new=f"{what} of {path} changed")
    return Change(kind, path, old.lower(), (new or "?").lower())


def _requires(before: bool) -> tuple[str, str]:  # noqa: FBT001
    words = ("no requires_grad", "requires_grad")
    return words[before], words[not before]
