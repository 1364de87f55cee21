"""Objects that answer whatever they like, and what looks at them: it never raises for that."""

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings, strategies as st
from IPython.core.error import UsageError

from ipyjaxbench import IpyJaxBenchError
from ipyjaxbench.jupyter.errors import TraceFailedError
from tests.shell import Shell

_ROOM = 3 << 30  # bytes that a look may take: an endless iterator fills more in seconds


class AnswerError(RuntimeError):
    """What hostile objects raise."""


def _raises(*_: Any, **__: Any) -> Any:
    raise AnswerError("do not ask")


#: What an object may answer: each gets the object and what it was asked for.
ANSWERS: dict[str, Callable[..., Any]] = {
    "raises": _raises,
    "itself": lambda self, *_: self,
    "None": lambda *_: None,
    "a number": lambda *_: 42,
    "a text": lambda *_: "text",
}
#: Methods that Python asks for; one that gives something wrong makes Python raise.
ASKED = ("__eq__", "__hash__", "__bool__", "__len__", "__iter__", "__repr__", "__str__", "__dir__",
         "__getitem__", "__array__", "__contains__", "__next__", "__index__")  # fmt: skip
READ = ("__class__", "__dict__", "__module__", "__name__", "__doc__", "__wrapped__", "__self__",
        "__func__", "__code__", "shape", "dtype", "_fields", "values", "device")  # fmt: skip
BASES = (object, dict, list, tuple, set, str)


class HostileMeta(type):
    """A class of classes that answers nothing."""

    __eq__ = __getattribute__ = __instancecheck__ = __subclasscheck__ = _raises
    __hash__ = _raises  # type: ignore[assignment]


@dataclass(frozen=True)
class Hostile:
    """How an object answers that can be called: it is made in the test, as others ask it too."""

    base: type = object
    methods: dict[str, str] = field(default_factory=dict)
    reads: dict[str, str] = field(default_factory=dict)
    catch_all: str = ""
    meta: bool = False

    def made(self) -> Any:
        """An object of a class of its own."""
        body: dict[str, Any] = {name: ANSWERS[answer] for name, answer in self.methods.items()}
        body |= {name: property(ANSWERS[answer]) for name, answer in self.reads.items()}
        if self.catch_all == "always":
            body["__getattribute__"] = _raises
        elif self.catch_all:
            body["__getattr__"] = ANSWERS[self.catch_all]
            body["__slots__"] = ()
        body["__call__"] = lambda *_: 1
        return (HostileMeta if self.meta else type)("Hostile", (self.base,), body)()


hostile = st.builds(
    Hostile,
    st.sampled_from(BASES),
    st.dictionaries(st.sampled_from(ASKED), st.sampled_from([*ANSWERS])),
    st.dictionaries(st.sampled_from(READ), st.sampled_from([*ANSWERS])),
    st.sampled_from(["", "always", *ANSWERS]),
    st.booleans(),
)
#: Those that found the most.
WORST = (
    Hostile(catch_all="itself"),  # with slots: it is its own `__dict__`
    Hostile(catch_all="always", meta=True),
    Hostile(dict, dict.fromkeys(ASKED, "raises")),
    Hostile(list, dict.fromkeys(ASKED, "raises"), dict.fromkeys(READ, "raises"), "raises"),
    # A named tuple, as it says, of which the items have no end.
    Hostile(tuple, {"__iter__": "itself", "__next__": "a number"}, {"_fields": "itself"}),
    Hostile(str, {"__repr__": "itself", "__str__": "raises"}),
)
few_tries = settings(
    max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
#: What a framework's own test has besides `o`: an array `x`, `jitted`, `failing` and `gives`.
PREPARED = """
{imports}
x = {array}
@{jit}
def jitted(x):
    return x + 1
def uses(o, x):
    return x + 1
def asks(o, x):
    kept = [o]
    return x if float(x[0]) > 0 else x + 1
@{jit}
def failing(x):
    return asks(o, x)
def gives(x):
    return o
"""
#: Uses with a framework; the magic of its graphs stands for GRAPH.
FRAMEWORK_USES = (
    "%GRAPH -q o()", "%GRAPH -q (lambda a: 1)(o)", "%GRAPH -q uses(o, x)", "%GRAPH -q uses([o], x)",
    "%GRAPH -q asks(o, x)", "%%GRAPH -q\nq = [o]\nuses(o, x)", "%explain -q",
    "%fwtime -q -n1 -r2 uses(o, x)", "%fwtime -q -b 0.02 --fresh uses(o, x)",
    "%%fwcompare -q -b 0.02\na: uses(o, x)\nb: uses([o], x)", "%fwdevices -q o x",
    "%fwdevices -q [o, x]", "%%fwdevices -q\nuses(o, x)", "%trace_cached -q uses(o, x)",
    "%%trace_cached -q\nuses([o], jitted(x))", "ipyjaxbench.graph(uses, o, x)",
)  # fmt: skip


def look(shell: Shell, use: str, answers: Hostile) -> None:
    """Use a magic or a function on an object, and check what is said.

    Args:
        shell: with the magics.
        use: a cell; `%explain` is asked about `failing(x)`.
        answers: how the object answers.
    """
    import ipyjaxbench

    shell.names.update(o=answers.made(), ipyjaxbench=ipyjaxbench)
    if use.startswith("%explain"):
        with suppress(Exception):
            shell.run("failing(x)")
    said = ""
    try:
        with _bounded_memory():
            shell.run(use)
    except TraceFailedError:  # what the user's own code raised is its text
        said = "does not trace"
    except (UsageError, IpyJaxBenchError) as error:  # it makes no program, calls nothing compiled
        said = str(error)
    assert "do not ask" not in said
    assert "the diagnosis failed" not in said
    if "did not come from tracing" not in said:  # it names what the user's own code raised
        assert not any(kind in said for kind in ("AttributeError", "KeyError", "IndexError"))
    may_refuse = ("%jaxpr", "%%jaxpr", "%fxgraph", "%%fxgraph", "%tfgraph", "%%tfgraph",
                  "%explain", "%trace_cached -q --predict", "ipyjaxbench.")  # fmt: skip
    assert not said or use.startswith(may_refuse)


@contextmanager
def _bounded_memory() -> Iterator[None]:
    """What takes more gets a MemoryError, and the machine stays usable."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + _ROOM, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
