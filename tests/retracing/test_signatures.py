"""What functions were traced with, and the options that ask for it."""

from typing import Any

import pytest

from ipyjaxbench.errors import OptionError
from ipyjaxbench.retracing.cache_key import Leaf, Signature
from ipyjaxbench.retracing.options import TraceOptions
from ipyjaxbench.retracing.signatures import Signatures
from ipyjaxbench.retracing.trace_log import TraceLog


def of(*shape: int, **key: Any) -> Signature:
    leaves = {"x": Leaf("array", "float32", shape), "n": Leaf("int", value="2"), "y": Leaf("list")}
    return Signature(leaves, ("x", "n", "y"), **key)


@pytest.fixture
def log() -> TraceLog:
    log = TraceLog()
    for signature in (of(3, function=1), of(4, function=1), of(4, function=2), of(5, code=7)):
        log.add("jax", "f", signature)
    log.add("torch", "g", of(1))
    return log


def test_each_signature_has_the_reason_for_its_trace(log: TraceLog) -> None:
    shown = Signatures.of(log, "f").traced
    assert [each.arguments for each in shown] == [f"x f32[{n}], n int" for n in (3, 4, 4, 5)]
    assert ["; ".join(change.words() for change in each.why) for each in shown] == [
        "first call",
        "x: f32[3] → f32[4] (shape)",
        "another function object: the same code, made anew",
        "first call",
    ]


def test_all_functions_or_one_that_is_known(log: TraceLog) -> None:
    assert [each.name for each in Signatures.of(log).traced] == ["f", "f", "f", "f", "g"]
    assert [each.framework for each in Signatures.of(log, "g").traced] == ["torch"]
    assert Signatures.of(TraceLog()).traced == ()
    with pytest.raises(OptionError, match=r"^'h' was not traced since loading; traced were: f, g$"):
        Signatures.of(log, "h")
    with pytest.raises(OptionError, match="traced were: none yet"):
        Signatures.of(TraceLog(), "h")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"predict": True, "history": True}, "--predict and --history do not go together"),
        ({"history": True, "watch": "on"}, "--history and --watch do not go together"),
        ({"watch": "maybe"}, "--watch maybe: it is on or off"),
    ],
)
def test_options_that_do_not_go_together(options: dict[str, Any], text: str) -> None:
    with pytest.raises(OptionError) as error:
        TraceOptions(**options)
    assert str(error.value) == text


def test_options_for_a_line_alone() -> None:
    with pytest.raises(OptionError, match="go on a line of their own"):
        TraceOptions(predict=True).check("", "f(x)")
    with pytest.raises(OptionError, match="there is nothing to run"):
        TraceOptions(predict=True).check("", None)
    for options in (TraceOptions(history=True), TraceOptions(watch="off")):
        options.check("", None)
    TraceOptions(most=1).check("", "f(x)")
