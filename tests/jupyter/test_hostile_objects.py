"""Objects that answer whatever they like: no magic and no function raises for having looked."""

import pytest
from hypothesis import example, given

from tests.hostile import WORST, Hostile, few_tries, hostile, look
from tests.shell import Shell

#: What would raise without a look too is left out: the object is called, and put into a list.
USES = (
    "%fwtime -q -n1 -r2 --cpu [o]",
    "%fwtime -q -b 0.02 --fresh o()",
    "%%fwtime -q -n1 -r2\nq = [o]\no()",
    "%%fwtime -q -n1 -r2 s = [o]\nlen(s)",
    "%%fwcompare -q -b 0.02\na: o()\nb: len([o])",
    "%fwdevices -q [o]",
    "%fwdevices -q",
    "%%fwdevices -q\nq = [o]\no()",
    "%%trace_cached -q\n[o]\no()",
    "%trace_cached -q --predict o(o)",
    "%jaxpr -q (lambda a: 1)(o)",
    "%%jaxpr -q\nq = o\no()",
    "ipyjaxbench.compare({'a': o, 'b': o}, budget=0.02)",
    "ipyjaxbench.graph(o)",
    "ipyjaxbench.explain(o)",
    "ipyjaxbench.placement(o)",
    "with ipyjaxbench.trace_cached() as t: o()",
    "with ipyjaxbench.transfers() as t: o()",
)


@pytest.mark.parametrize("use", USES)
@example(WORST[0])
@example(WORST[1])
@example(WORST[2])
@example(WORST[3])
@example(WORST[4])
@example(WORST[5])
@few_tries
@given(answers=hostile)
def test_looking_at_an_object_never_raises(use: str, shell: Shell, answers: Hostile) -> None:
    look(shell, use, answers)


class Silent:
    """What it is asked for never comes back, so nothing may ask: here it is written down."""

    asked: tuple[str, ...] = ()

    def __getattribute__(self, name: str) -> object:
        Silent.asked += (name,)
        return object.__getattribute__(self, name)


@pytest.mark.parametrize(
    "use",
    ["%fwtime -q -n1 -r2 y = [o, f()]", "%%fwcompare -q -b 0.02\na: id(o)\nb: f()",
     "%fwdevices -q [o]", "%fwdevices -q", "%%fwdevices -q\nid(o)", "%trace_cached -q id(o)",
     "%%trace_cached -q\nf()"],
)  # fmt: skip
def test_looking_never_runs_the_attribute_access_of_a_class(use: str, shell: Shell) -> None:
    Silent.asked = ()
    shell.names["o"] = Silent()
    shell.run("def f(): return id(o)")
    shell.run(use)
    assert Silent.asked == ()
