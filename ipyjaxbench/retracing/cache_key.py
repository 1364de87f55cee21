"""What a trace is keyed on, and in what two keys differ."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ipyjaxbench import units
from ipyjaxbench.retracing.traced_code import TracedCode
from ipyjaxbench.usercode import Imprint, Reads

#: What can differ, the weightiest first; those from "scalar" on need no new trace.
KINDS = (
    "first", "captured", "function", "form", "structure", "type", "rank", "shape", "dtype",
    "weak type", "static value", "setting", "layout", "guard", "number", "scalar",
    "transformation", "committed", "device", "sharding", "host array", "unknown", "stale",
)  # fmt: skip
_NUMBERS = ("bool", "int", "float", "complex")
#: Changes whose text shows of what kind they are.
_SELF_EVIDENT = ("structure", "setting")
#: Changes of a state, as in "x was uncommitted, is now committed to cpu:0".
_STATES = ("form", "transformation", "committed", "host array")
PLACEMENT = ("scalar", "transformation", "committed", "device", "sharding", "host array")


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

    def statement(self) -> tuple[str, str]:
        """Return what changed, and what sort of thing that is, where its words do not tell."""
        if self.kind in ("first", "guard"):
            return self.new, ""
        if self.kind == "unknown":
            return f"depends on {self.path}, which was not run", ""
        if self.kind == "function":
            return f"new function object ({self.new})", ""
        if self.kind == "stale":
            return f"{self.path} {self.new}", ""
        if self.kind == "captured":
            return f"new function object (captured {self.path}: {self.old} → {self.new})", ""
        if self.kind in _STATES:
            return f"{self.path} was {self.old}, is now {self.new}".lstrip(), ""
        if self.kind == "structure" and not self.old:
            return f"{self.path} {self.new}", ""
        change = f"{self.old} → {self.new}" if self.old else self.new
        label = {"number": "static value", "scalar": "type"}.get(self.kind, self.kind)
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


def compare(new: Signature, known: Sequence[Signature], *, placed: bool = False) -> list[Change]:
    """Return in what a signature differs from the nearest known one, the latest of these.

    With `placed` nothing was traced, so that only where arrays lie can have changed.
    """
    differences = [list(changes(old, new)) for old in reversed(known)]
    if not placed:
        return min(map(_causes_of_trace, differences), key=_distance)
    # What a number is, is no part of the key of a program; of a trace it is where it is static.
    others = [[c for c in each if c.kind != "number"] for each in differences]
    placement = [[c for c in each if c.kind in (*PLACEMENT, "setting")] for each in others]
    return min(placement, key=_distance) or min(others, key=_distance)


def _causes_of_trace(changes: Sequence[Change]) -> list[Change]:
    """Return what can have caused a trace; a number's value only where nothing else can."""
    excluded: tuple[tuple[str, ...], ...] = ((*PLACEMENT, "number"), PLACEMENT, ())
    causes = ([c for c in changes if c.kind not in kinds] for kinds in excluded)
    return next(filter(None, causes), [])


def _distance(changes: Sequence[Change]) -> tuple[int, int]:
    """Return a key by which the fewest and lightest come first, and no changes come last."""
    return len(changes) or len(KINDS), -sum(KINDS.index(c.kind) for c in changes)


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
    if old.transformation != new.transformation:
        yield Change("transformation", "", *map(_called, (old.transformation, new.transformation)))


def is_same_trace(one: Signature, other: Signature) -> bool:
    """Whether a trace that was made with one signature serves a call with the other."""
    return all(each.kind in (*PLACEMENT, "number") for each in changes(one, other))


def changes_since(name: str, before: Reads, now: Reads) -> Iterator[Change]:
    """Yield what a compiled function read while it was traced, and is another thing now.

    Example:
        >>> before, now = (Reads({"scale": Imprint(w, w)}) for w in ("2.0", "3.0"))
        >>> [each.words() for each in changes_since("f", before, now)]
        ['scale was 2.0 when f was traced, is 3.0']
    """
    told: set[str] = set()
    for path, old in before.values.items():
        new, (root, _, inner) = now.values.get(path), path.partition(":")
        if (new is None or new.content != old.content) and not (inner and root in told):
            told.add(root)
            yield Change("stale", root, old.words, _since(name, old, new, inner))


def _since(name: str, old: Imprint, new: Imprint | None, inner: str) -> str:
    if inner:  # a library's function that holds something else
        part = inner.rpartition(":")[2]
        if new is None or new.words == old.words:
            return f"has another {part} than when {name} was traced"
        return f"had {part} {old.words} when {name} was traced, has {new.words}"
    if new is None:
        return f"was {old.words} when {name} was traced, and is gone"
    if old.kind == new.kind == "function" and old.words == new.words:
        return f"was redefined; {name} still runs the earlier one"
    if old.words == new.words:
        return f"is another {new.words} than the one that {name} was traced with"
    return f"was {old.words} when {name} was traced, is {new.words}"


def _leaf_changes(old: Signature, new: Signature) -> Iterator[Change]:
    replaced: list[str] = []  # by a value of another type: what is within does not count
    for path in dict.fromkeys([*old.leaves, *new.leaves]):
        before, after = old.leaves.get(path), new.leaves.get(path)
        if path.startswith(tuple(replaced)):
            continue
        if before and after and before.kind != after.kind:
            replaced += f"{path}[", f"{path}."
        if before is None or after is None:
            if path.partition("[")[0].partition(".")[0] in _names(old) & _names(new):
                yield Change("structure", path, "", "was added" if after else "was removed")
        elif before != after:
            yield from _changes_in_leaf(path, before, after)


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
        if old.abstract and old.abstract == new.abstract:
            yield Change("scalar", path, *texts)
            return
        is_data = old.dtype or new.dtype or old.value or new.value
        yield Change("type" if is_data else "structure", path, *texts)
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
        kind = "number" if new.kind in _NUMBERS else "static value"
        yield Change(kind, path, old.value, _another(old.value, new.value))
    if old.layout != new.layout:
        yield Change("layout", path, old.layout, new.layout)
    yield from _place_changes(path, old, new)


def _place_changes(path: str, old: Leaf, new: Leaf) -> Iterator[Change]:
    if old.host != new.host:
        kinds = ("a device array", "a NumPy array")
        yield Change("host array", path, kinds[old.host], kinds[new.host])
    elif old.committed != new.committed:
        words = ("uncommitted", f"committed to {new.device or old.device}")
        yield Change("committed", path, words[old.committed], words[new.committed])
    elif old.device != new.device and old.device and new.device:
        yield Change("device", path, old.device, new.device)
    elif old.sharding != new.sharding:
        yield Change("sharding", path, old.sharding, new.sharding)
