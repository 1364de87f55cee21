"""The condition that failed when dynamo looked for a program, in plain words."""

import ast
import re
from collections import ChainMap, deque
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch

from ipyjaxbench import units
from ipyjaxbench.adapters.torch.retracing import backends, cache_key, conditions
from ipyjaxbench.adapters.torch.retracing.callee import Entered, entries, is_own
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import Change

_TENSOR = re.compile(
    r"^tensor '(?P<path>.+?)' (?P<what>[\w ]+?) mismatch(?: at index (?P<axis>\d+))?"
    r"\. expected (?P<old>.+?)(?:, actual (?P<new>[^.]+?))?(?:\. .*)?$"
)
#: PyTorch writes the indices as bytes, so that 1 is "\x01".
_DEVICE = re.compile(
    r"^tensor '(?P<path>.+?)' Tensor device index mismatch"
    r"\. Expected device index to be (?P<old>.), actual (?P<new>.)?",
    re.DOTALL,
)
_TYPE = re.compile(r"^expected type of '(?P<path>.+?)' to be .+? but found <class '(.+)'>")
_EQUAL = re.compile(r"^(?P<path>[^=<>!]+?) == (?P<old>.+)$")
BETWEEN = "what Python computed at the graph break"
#: What a user knows by no name: a value that is gone, and one that was computed between graphs.
_NAMELESS = {
    re.compile(r"^Cache line invalidated because (?P<path>.+?) got deallocated"):
        "{path} is a different object (the earlier one is gone)",
    re.compile(r"^___stack\d+ == (?P<old>.+)$"):
        f"{BETWEEN} was {{old}}, and is another value",
}  # fmt: skip
#: What signatures hold of the state that PyTorch guards.
IN_SIGNATURE = (
    "grad_mode", "num_threads", "default_dtype", "deterministic_algorithms", "autocast",
    "autocast_state", "allow_tf32",
)  # fmt: skip
_STATE = re.compile(r"^GLOBAL_STATE changed: (?P<what>\w+)")
_GLOBAL, _LOCAL = re.compile(r"G\['(\w+)'\]"), re.compile(r"L\['(\w+)'\]")
_PART = re.compile(r"\._(?:modules|parameters|buffers)\['(\w+)'\]")
_ARRAY = re.compile(r"___from_numpy\(([^()]+)\)")  # a NumPy array, as PyTorch takes it
_AROUND = re.compile(r"\bargs\[(\d+)\]")
#: What is another object, or of another type, than it was.
_OBJECT = re.compile(r"^___check_(?P<what>obj|type)_id\((?P<path>[^,]+), .*$")
_START = re.compile(r"[A-Za-z_]\w*(?:\.\w+|\[[^\]]*\])*")
#: The module that PyTorch's own function is around, as guards name it.
_MODULE = re.compile(r"(?<![\w.])fn(?:\.__self__)?(?=\.)")
_LENGTH = re.compile(r"^len\((?P<path>.+)\) == (?P<old>\d+)$|^not (?P<empty>[^(]+)$")
_CONTAINERS = (list, tuple, deque, dict, set)
#: Whether an object has an attribute of its own.
_ATTRIBUTE = re.compile(
    r"^(?P<no>not )?___dict_contains\('(?P<name>\w+)', (?P<owner>.+)\.__dict__\)$"
)
_NEGATED = {"True": "False", "False": "True"}
_LITERALS = (bool, int, float, complex, str)


class Guard(NamedTuple):
    """A condition that did not hold, and whether it is about something that signatures hold too."""

    change: Change
    is_in_signature: bool


def failing(entered: Entered) -> list[Guard]:
    """Return the first condition that fails for each program, the newest program first.

    Those of programs that were made for another object count where it has none of its own, and
    only if they are about something else than the object. Nothing is run. Empty where PyTorch does
    not say.
    """
    own: list[Guard] = []
    with_other_backends: list[Guard] = []
    others: list[Guard] = []
    for entry in _living(entered):
        if not backends.is_same(entry, entered.backend):
            change = backends.difference(entry, entered.backend)
            with_other_backends.append(Guard(change, is_in_signature=False))
            continue
        manager, names = entry.guard_manager, dict(entered.names)
        check = getattr(manager, "check_verbose", None)
        answer = check(names) if check is not None else None
        if answer is None or answer.result:
            continue
        part = conditions.failed_part(answer.verbose_code_parts, manager, names)
        if part is not None:
            (own if is_own(entry, entered) else others).append(read(part, entered))
    others = [guard for guard in others if not _is_of_owner(guard, entered)]
    return own or others or with_other_backends


def _is_of_owner(guard: Guard, entered: Entered) -> bool:
    """Whether a condition is about the object that was compiled, such as `self`."""
    start = _START.search(guard.change.path.rpartition(" of ")[2])
    return start is not None and _root(start[0]) in ("fn", "self", *list(entered.arguments)[:1])


def _root(path: str) -> str:
    return re.split(r"[.\[]", path)[0]


def found(entered: Entered) -> Any | None:
    """Return the program that a call finds; None where there is none, or PyTorch does not say."""
    for entry in _living(entered):
        check = getattr(entry.guard_manager, "check", None)
        if backends.is_same(entry, entered.backend) and check and check(dict(entered.names)):
            return entry
    return None


def _living(entered: Entered) -> list[Any]:
    """Return the programs of a function but for those that served objects which are gone."""
    return [each for each in entries(entered.code) if each.code is not None]


def would_miss(entered: Entered) -> bool | None:
    """Whether a call would find none of the programs that are there; None where that is unknown.

    Of the rest of a function after a break nothing is known.
    """
    for entry in entries(entered.code):
        if not backends.is_same(entry, entered.backend):
            continue
        check = getattr(entry.guard_manager, "check_verbose", None)
        if check is None:
            return None
        if check(dict(entered.names)).result:
            broken = any(name.startswith("__resume_at") for name in entry.code.co_names)
            return None if broken else False
    return True


def read(reason: str, entered: Entered | None = None) -> Guard:
    """Return what PyTorch's reason says, which has the condition in its first line.

    Example:
        >>> read("0/0: tensor 'x' size mismatch at index 0. expected 4, actual 8").change.words()
        'size 0 of x: 4 → 8 (shape)'
    """
    text = conditions.plain(reason)
    if state := _STATE.match(text):
        what = state["what"].replace("_", " ")
        is_in_signature = state["what"] in IN_SIGNATURE
        return Guard(Change("guard", new=f"{what} changed"), is_in_signature)
    if text.startswith("utils_device.CURRENT_DEVICE"):
        return Guard(Change("guard", new="default device changed"), is_in_signature=True)
    if text.startswith("___check_torch_function_mode_stack"):
        change = Change("guard", new="modes of torch functions changed")
        return Guard(change, is_in_signature=torch.get_default_device().type != "cpu")
    if text.startswith("BACKEND_MATCH"):
        change = Change("guard", new="different backend for the same code")
        return Guard(change, is_in_signature=False)
    if text.startswith("Duplicate tensor found"):
        change = Change("guard", new="the same tensor is in two places, where it was not before")
        return Guard(change, is_in_signature=False)
    names, value = _GLOBAL.findall(text), _value_now(text, entered)
    text = _spelled(text, entered)
    change = _change(text, value, names)
    if entered is None:
        return Guard(change, is_in_signature=False)
    if names:
        known = dict(cache_key.surroundings(entered.function))
        return Guard(change, all(f"global {name}" in known for name in names))
    start = _START.match(_path(text))
    return Guard(change, start is not None and _is_in_signature(start[0], entered))


def _is_in_signature(path: str, entered: Entered) -> bool:
    """Whether a path, or what is in it, is in signatures: a module's mode is that of its parts."""
    root = _root(path)
    known = cache_key.signature(entered).leaves
    if path.endswith(".training") and f"{root}.training" in known:
        return True
    return path in known or any(each.startswith((f"{path}.", f"{path}[")) for each in known)


def spell(part: str, entered: Entered) -> str:
    """Return a condition of a program with the user's own names."""
    return _spelled(conditions.plain(part), entered)


def _path(text: str) -> str:
    if attribute := _ATTRIBUTE.match(text):
        return f"{attribute['owner']}.{attribute['name']}"
    shapes = _TENSOR, _DEVICE, _OBJECT, _TYPE
    match = next(filter(None, (shape.match(text) for shape in shapes)), None)
    start = _START.search(text.removeprefix("not ").removeprefix("len("))
    return match["path"] if match else start[0] if start else text


def _spelled(text: str, entered: Entered | None) -> str:
    """Return a condition with the user's own names."""
    plain = _ARRAY.sub(r"\1", text)
    plain = _PART.sub(r".\1", _LOCAL.sub(r"\1", _GLOBAL.sub(r"\1", plain)))
    labels = () if entered is None else entered.labels
    is_around = entered is not None and entered.is_around
    plain = _MODULE.sub("self", plain) if is_around else plain
    return _AROUND.sub(
        lambda match: labels[int(match[1])] if int(match[1]) < len(labels) else match[0], plain
    )


def _value_now(text: str, entered: Entered | None) -> Any:
    """Return what a condition is about, where that was to be equal to something."""
    if length := _LENGTH.match(text):
        value = value_at(length["path"] or length["empty"], entered) if entered else None
        return value if isinstance(value, _CONTAINERS) else None
    equal = _EQUAL.match(text)
    return value_at(equal["path"], entered) if equal and entered else None


def _change(text: str, value: Any, names: Sequence[str]) -> Change:
    for pattern, words in _NAMELESS.items():
        if said := pattern.match(text):
            return Change("guard", new=words.format(**said.groupdict()))
    if tensor := _TENSOR.match(text):
        return _tensor_change(tensor)
    if device := _DEVICE.match(text):
        old, new = (str(ord(index)) if index else "?" for index in device.group("old", "new"))
        return Change("device", device["path"], old, new)
    scope = "global " if names else ""
    change = _object_change(text, scope) or _value_change(text, value, scope)
    return change or Change("guard", scope + _path(text), new=f"guard failed: {scope}{text}")


def _object_change(text: str, scope: str) -> Change | None:
    """Return a change of what an object is, or has."""
    if other := _OBJECT.match(text):
        path = scope + other["path"]
        differs = "is a different object" if other["what"] == "obj" else "has a different type"
        return Change("guard", path, new=f"{path} {differs}")
    if other := _TYPE.match(text):
        old = "a tensor of another type" if other[2].startswith("torch.") else "a tensor"
        return Change("type", other["path"], old, other[2])
    if attribute := _ATTRIBUTE.match(text):
        state = "was added" if attribute["no"] else "was removed"
        return Change("structure", scope + _path(text), "", state)
    return None


def _value_change(text: str, value: Any, scope: str) -> Change | None:
    if (length := _LENGTH.match(text)) and value is not None:
        path, old = length["path"] or length["empty"], length["old"] or "0"
        return Change("structure", scope + path, _size(value, int(old)), _size(value, len(value)))
    if equal := _EQUAL.match(text):
        name, old = equal.groups()
        if old in _NEGATED:
            return Change("static value", scope + name, old, _NEGATED[old])
        if isinstance(value, _LITERALS):
            kind = "static value" if isinstance(value, str) else "number"
            return Change(kind, scope + name, old, repr(value))
    return None


def _size(value: Any, size: int) -> str:
    """Return in words how many things a container has; a sequence has a length."""
    if isinstance(value, dict | set):
        return units.count(size, "key" if isinstance(value, dict) else "item")
    return f"length {size}"


def value_at(path: str, entered: Entered) -> Any:
    """Return what PyTorch's or the user's name of a value stands for; None where for nothing."""
    known = entered.function.__globals__
    scopes: list[Any] = [{"L": entered.names, "G": known}, entered.arguments, entered.names, known]
    names = ChainMap(*scopes)
    try:
        return _evaluate(ast.parse(path, mode="eval").body, names)
    except (SyntaxError, *CODE_ERRORS):
        return None


def _evaluate(node: ast.expr, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Name(id=name):
            return names[name]
        case ast.Attribute(value=owner, attr=name):
            return getattr(_evaluate(owner, names), name)
        case ast.Subscript(value=owner, slice=ast.Constant(value=key)):
            return _evaluate(owner, names)[key]
    raise LookupError


def _tensor_change(match: re.Match[str]) -> Change:
    path, what, axis, old, new = match.groups()
    if what == "requires_grad":
        states = "no requires_grad", "requires_grad"
        required = "requires_grad=1" in old
        return Change("layout", path, states[required], states[not required])
    if what in ("size", "stride"):
        kind = "shape" if what == "size" else "layout"
        return Change(kind, f"{what} {axis} of {path}", old, new or "?")
    kind = what if what in ("dtype", "rank") else "guard"
    if kind == "guard":
        return Change("guard", path, new=f"{what} of {path} changed")
    return Change(kind, path, old.lower(), (new or "?").lower())
