"""What a trace is keyed on, and how reports spell what changed in it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ipyjaxbench import units
from ipyjaxbench.retracing.traced_code import TracedCode

#: What can differ, the weightiest first; those from "scalar" on need no new trace.
KINDS = (
    "first", "captured", "function", "form", "structure", "role", "type", "rank", "shape", "dtype",
    "weak type", "static value", "order", "setting", "layout", "guard", "number", "value",
    "scalar", "option", "transformation", "committed", "device", "sharding", "host array",
    "unknown", "stale",
)  # fmt: skip
#: Where the framework may take numbers for data, what a number is may be no part of the key.
MAYBE = "value"
NUMBERS = ("bool", "int", "float", "complex")
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
    full_name: str = ""  # of the function, with what defines it, as in "make_a.step"
    owner: int = 0  # tells objects apart whose programs the framework keeps in one place
    #: Of the compiled function, such as "donate_argnums", which need no new trace; if known.
    options: Mapping[str, str] = field(default_factory=dict)
    #: Defaults of static arguments that the call leaves out.
    omitted: Mapping[str, Leaf] = field(default_factory=dict)


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
    unseen: bool = False  # whether the framework keeps a trace of the function that nobody saw
    raised: bool = False  # whether tracing it raised an error, so that nothing is kept
