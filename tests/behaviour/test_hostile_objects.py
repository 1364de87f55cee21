"""Objects that answer whatever they like: no magic and no function raises for having looked."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from IPython.core.error import UsageError

from ipyjaxbench import IpyJaxBenchError
from tests.shell import Shell


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
#: What would raise without a look too is left out: the object is called, and put into a list.
USES = (
    "%fwtime -q -n1 -r2 o()",
    "%fwtime -q -n1 -r2 --cpu [o]",
    "%fwtime -q -b 0.02 --fresh o()",
    "%%fwtime -q -n1 -r2\nq = [o]\no()",
    "%%fwtime -q -n1 -r2 s = [o]\nlen(s)",
    "%%fwcompare -q -b 0.02\na: o()\nb: len([o])",
    "%fwdevices -q o",
    "%fwdevices -q [o]",
    "%fwdevices -q",
    "%%fwdevices -q\nq = [o]\no()",
    "%trace_cached -q o()",
    "%%trace_cached -q\n[o]\no()",
    "%trace_cached -q --predict o(o)",
    "%jaxpr -q o()",
    "%jaxpr -q (lambda a: 1)(o)",
    "%%jaxpr -q\nq = o\no()",
    "%fwhistory -q",
    "%ipyjaxbench -q",
    "ipyjaxbench.measure_code('o()', {'o': o}, budget=0.02)",
    "ipyjaxbench.compare({'a': o, 'b': o}, budget=0.02)",
    "ipyjaxbench.graph(o)",
    "ipyjaxbench.graph(lambda a: 1, o)",
    "ipyjaxbench.explain(o)",
    "ipyjaxbench.devices()",
    "ipyjaxbench.placement(o)",
    "with ipyjaxbench.trace_cached() as t: o()",
    "with ipyjaxbench.transfers() as t: o()",
)


@pytest.mark.parametrize("use", USES)
@example(Hostile(catch_all="itself"))  # with slots: it is its own `__dict__`
@example(Hostile(catch_all="always", meta=True))
@example(Hostile(dict, dict.fromkeys(ASKED, "raises")))
@example(Hostile(list, dict.fromkeys(ASKED, "raises"), dict.fromkeys(READ, "raises"), "raises"))
@settings(
    max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(answers=hostile)
def test_looking_at_an_object_never_raises(use: str, shell: Shell, answers: Hostile) -> None:
    import ipyjaxbench

    shell.names.update(o=answers.made(), ipyjaxbench=ipyjaxbench)
    said = ""
    try:
        shell.run(use)
    except (UsageError, IpyJaxBenchError) as error:  # it makes no program, calls nothing compiled
        said = str(error)
    assert "do not ask" not in said
    assert not any(kind in said for kind in ("AttributeError", "KeyError", "IndexError"))
    may_refuse = ("%jaxpr", "%%jaxpr", "%trace_cached -q --predict", "ipyjaxbench.")
    assert not said or use.startswith(may_refuse)
