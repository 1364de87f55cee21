"""What a trace is keyed on, and in what two keys differ."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ipyjaxbench import units
from ipyjaxbench.retracing.traced_code import TracedCode

#: What can differ, the weightiest first; those from "scalar" on need no new trace.
KINDS = (
    "first", "captured", "function", "form", "structure", "role", "type", "rank", "shape", "dtype",
    "weak type", "static value", "setting", "layout", "guard", "number", "value", "scalar",
    "option", "transformation", "committed", "device", "sharding", "host array", "unknown", "stale",
)  # fmt: skip
#: Where the framework may take numbers for data, what a number is may be no part of the key.
MAYBE = "value"
_NUMBERS = ("bool", "int", "float", "complex")
#: Changes whose text shows of what kind they are.
_SELF_EVIDENT = ("structure", "setting")
#: Changes of a state, as in "x was uncommitted, is now committed to cpu:0".
_STATES = ("form", "role", "transformation", "committed", "host array")
#: Between names of which one changed; the last one may stand for more.
_EITHER, ANOTHER = re.compile(r", | or "), "another name"
_LABELS = {"number": "static value", "value": "static value", "scalar": "type"}
#: In what one leaf can differ; with its path, one thing that a program may take as it is.
PROPERTIES = frozenset(
    ("type", "rank", "shape", "dtype", "weak type", "static value", "number", "layout", "device")
)  # fmt: skip
Property = tuple[str, str]
PLACEMENT = (
    "scalar", "option", "transformation", "committed", "device", "sharding", "host array",
)  # fmt: skip


@dataclass(frozen=True)
class Leaf:
    """One value among the arguments; what does not apply is empty."""

    kind: str  # "array", "variable", "static" for what is no data, or the type of a number or tree
    dtype: str = ""
    shape: tuple[int, ...] = ()
    weak: bool = False  # whether its dtype gives way to that of others
    device: str = ""  # empty where that is the framework's choice
    sharding: str = ""
    committed: bool = False  # whether it is committed to its device
    host: bool = False  # whether it is a NumPy array, copied to the device for the call
    value: str = ""  # of what is no array, in Python's words, cut short
    identity: int = 0  # tells objects apart whose words are the same
    layout: str = ""  # in memory, in the framework's words, where programs depend on that
    abstract: str = ""  # what a trace takes it for, where it takes numbers for arrays
    in_key: bool = True  # whether the framework compares it; True where that is unknown

    def words(self) -> str:
        """Return it as reports spell it.

        Example:
            >>> Leaf("array", "float32", (3,)).words(), Leaf("int", value="3").words()
            ('f32[3]', 'int')
        """
        if self.dtype:
            text = units.array(self.dtype, self.shape) + (" weak" if self.weak else "")
            return text if self.kind == "array" else f"{self.kind} {text}"
        return self.value if self.kind == "static" else self.kind


@dataclass(frozen=True)
class Signature:
    """What a framework looks at to find a trace of a function."""

    leaves: Mapping[str, Leaf]  # by the name and path of each
    form: tuple[str, ...] = ()  # of each argument: "x" by position, "x=" by name
    settings: Mapping[str, str] = field(default_factory=dict)  # that are part of the key
    function: int = 0  # tells function objects apart
    code: int = 0  # tells the code of functions apart
    captured: Mapping[str, Leaf] = field(default_factory=dict)  # part of the trace, no arguments
    transformation: str = ""  # by which the function is called, as in "grad"
    owner: int = 0  # tells objects apart whose programs the framework keeps in one place
    #: Of the compiled function, such as "donate_argnums", which need no new trace; if known.
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """One thing in which two signatures differ, in words."""

    kind: str  # one of KINDS
    path: str = ""  # of the argument; empty where it is none
    old: str = ""
    new: str = ""

    def words(self) -> str:
        """Return it in one line.

        Example:
            >>> Change("shape", "x", "f32[3]", "f32[4]").words()
            'x: f32[3] → f32[4] (shape)'
        """
        return describe_changes([self])

    def paths(self) -> list[str]:
        """Return its path; where one of several names changed, and nobody knows which, all.

        Example:
            >>> Change("stale", "w, b or another name", new="was changed").paths()
            ['w', 'b']
        """
        if self.kind != "stale" or self.old:
            return [self.path]
        return [each for each in _EITHER.split(self.path) if each not in ("", ANOTHER)]

    def statement(self) -> tuple[str, str]:
        """Return what changed, and what sort of thing that is, where its words do not tell."""
        if self.kind in ("first", "guard"):
            return self.new, ""
        if self.kind == "unknown":
            return f"depends on {self.path}, which was not run", ""
        if self.kind == "function":
            return f"new function object ({self.new})", ""
        if self.kind == "stale":
            return f"{self.path} {self.new}".lstrip(), ""
        if self.kind == "captured":
            return f"new function object (captured {self.path}: {self.old} → {self.new})", ""
        if self.kind in _STATES:
            return f"{self.path} was {self.old}, is now {self.new}".lstrip(), ""
        if self.kind == "structure" and not self.old:
            return f"{self.path} {self.new}", ""
        change = f"{self.old} → {self.new}" if self.old else self.new
        label = _LABELS.get(self.kind, self.kind)
        named = f"{self.path}: {change}" if self.path else change
        return named, "" if self.kind in _SELF_EVIDENT else label


def describe_changes(changes: Iterable[Change]) -> str:
    """Return changes in one line; what changed in several respects is named once.

    Example:
        >>> describe_changes([Change(kind, "x", "f32[3]", "i32[4]") for kind in ("shape", "dtype")])
        'x: f32[3] → i32[4] (shape, dtype)'
    """
    labels: dict[str, list[str]] = {}
    for change in changes:
        text, label = change.statement()
        labels.setdefault(text, []).append(label)
    return "; ".join(
        f"{text} ({', '.join(dict.fromkeys(of))})" if any(of) else text
        for text, of in labels.items()
    )


@dataclass(frozen=True)
class CacheMiss:
    """A call that was not cached, as a framework reports it."""

    name: str
    signature: Signature
    placed: bool  # whether nothing was traced, but something compiled
    line: int = 0  # of the user's code that made the call; 0 where it is not known
    text: str = ""
    phases: dict[str, float] = field(default_factory=dict)  # seconds; they grow until it is over
    fallback_reasons: tuple[Change, ...] = ()  # the framework's, where signatures do not differ
    code: TracedCode | None = None  # what was traced; None where its guards cover what it reads
    beside: tuple[Change, ...] = ()  # further causes, which signatures do not hold
    accepted: frozenset[Property] = frozenset()  # what the latest program takes as it is
    cleared: bool = False  # whether the framework had no program of the function any more


def changes(old: Signature, new: Signature) -> Iterator[Change]:
    """Yield in what two signatures differ."""
    if old.function != new.function:
        yield from _function_changes(old, new)
    yield from _form_changes(old, new)
    yield from _leaf_changes(old, new)
    for name in dict.fromkeys([*old.settings, *new.settings]):
        one, other = old.settings.get(name, "?"), new.settings.get(name, "?")
        if one != other:
            yield Change("setting", name, one, other)
    for name in old.options.keys() & new.options.keys():
        one, other = old.options[name], new.options[name]
        if one != other:
            yield Change("option", name, one, other)
    if old.transformation != new.transformation:
        yield Change("transformation", "", *map(_called, (old.transformation, new.transformation)))


def _leaf_changes(old: Signature, new: Signature) -> Iterator[Change]:
    """Yield in what leaves differ; of a tree's static data, the parts of it that are known."""
    changes = [*_all_leaf_changes(old, new)]
    paths = [path for path, _ in changes]
    for path, change in changes:
        is_of_parts = _is_tree(old.leaves.get(path)) and change.kind == "static value"
        if not (is_of_parts and any(map(_is_within(path), paths))):
            yield change


def _all_leaf_changes(old: Signature, new: Signature) -> Iterator[tuple[str, Change]]:
    other: list[str] = []  # begins what is in a value that came, went, or has another type
    same: set[str] = set()  # trees whose static data, among them attributes, are the same
    names = _names(old) & _names(new)
    for path in dict.fromkeys([*old.leaves, *new.leaves]):
        before, after = old.leaves.get(path), new.leaves.get(path)
        if path.startswith(tuple(other)):
            continue
        if before is None or after is None:
            other += f"{path}[", f"{path}."
            if path.partition("[")[0].partition(".")[0] in names:
                yield path, Change("structure", path, "", "was added" if after else "was removed")
            continue
        if before.kind != after.kind:
            other += f"{path}[", f"{path}."
        elif _is_tree(after) and after.identity and before.identity == after.identity:
            same.add(path)
        is_same = after.kind == "static" and path.rpartition(".")[0] in same
        if before != after and before.in_key and after.in_key and not is_same:
            yield from ((path, change) for change in _changes_in_leaf(path, before, after))


def _is_tree(leaf: Leaf | None) -> bool:
    return leaf is not None and not leaf.dtype and leaf.kind not in ("static", *_NUMBERS)


def _is_within(whole: str) -> Callable[[str], bool]:
    return lambda path: path.startswith((f"{whole}[", f"{whole}."))


def _function_changes(old: Signature, new: Signature) -> Iterator[Change]:
    """Yield what another function object has captured, where that tells it from the old one."""
    captured = []
    for name, after in new.captured.items():
        before = old.captured.get(name)
        if before is not None and before != after:
            one, other = before.value or before.words(), after.value or after.words()
            captured.append(Change("captured", name, one, _another(one, other)))
    yield from captured or [Change("function", new="same code")]


def _another(old: str, new: str) -> str:
    return f"another {new}" if old == new else new


def _called(transformation: str) -> str:
    return f"called under {transformation}" if transformation else "called directly"


def _names(signature: Signature) -> set[str]:
    return {each.removesuffix("=") for each in signature.form}


def _form_changes(old: Signature, new: Signature) -> Iterator[Change]:
    for name in sorted(_names(old) | _names(new)):
        one, other = _form_of(name, old.form), _form_of(name, new.form)
        if one != other:
            yield Change("form", name, one, other)


def _form_of(name: str, form: Sequence[str]) -> str:
    if name in form:
        return "passed positionally"
    return "passed by keyword" if f"{name}=" in form else "omitted"


def _changes_in_leaf(path: str, old: Leaf, new: Leaf) -> Iterator[Change]:
    texts = old.words(), new.words()
    if old.kind != new.kind:
        yield _change_of_kind(path, old, new)
        return
    if len(old.shape) != len(new.shape):
        yield Change("rank", path, *texts)
    elif old.shape != new.shape:
        yield Change("shape", path, *texts)
    if old.dtype != new.dtype:
        yield Change("dtype", path, *texts)
    elif old.weak != new.weak:
        yield Change("weak type", path, *texts)
    if old.kind != "array" and (old.value, old.identity) != (new.value, new.identity):
        number = MAYBE if new.abstract else "number"
        kind = number if new.kind in _NUMBERS else "static value"
        yield Change(kind, path, old.value, _another(old.value, new.value))
    if old.layout != new.layout:
        yield Change("layout", path, old.layout, new.layout)
    yield from _place_changes(path, old, new)


def _change_of_kind(path: str, old: Leaf, new: Leaf) -> Change:
    texts = old.words(), new.words()
    if old.abstract and old.abstract == new.abstract:
        return Change("scalar", path, *texts)
    if "static" in (old.kind, new.kind) and (old.abstract or new.abstract):
        roles = ("static" if each.kind == "static" else "data" for each in (old, new))
        return Change("role", path, *roles)
    return Change("structure" if _is_tree(old) and _is_tree(new) else "type", path, *texts)


def _place_changes(path: str, old: Leaf, new: Leaf) -> Iterator[Change]:
    if old.host != new.host:
        kinds = ("a device array", "a NumPy array")
        yield Change("host array", path, kinds[old.host], kinds[new.host])
    elif old.committed != new.committed:
        split = f" as {new.sharding or old.sharding}" if old.sharding != new.sharding else ""
        words = ("uncommitted", f"committed to {new.device or old.device}{split}")
        yield Change("committed", path, words[old.committed], words[new.committed])
    elif old.device != new.device and old.device and new.device:
        yield Change("device", path, old.device, new.device)
    elif old.sharding != new.sharding:
        yield Change("sharding", path, old.sharding, new.sharding)
