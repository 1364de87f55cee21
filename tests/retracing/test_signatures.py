"""What functions were traced with, and the options that ask for it."""

from typing import Any

import pytest

from ipyjaxbench.errors import OptionError
from ipyjaxbench.jupyter.commands import TRACE
from ipyjaxbench.reports import Calls, Headline
from ipyjaxbench.retracing.cache_key import Change, Leaf, Signature
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
        log.add("jax", "f", signature, log.reasons("jax", "f", signature, placed=False))
    log.add("torch", "g", of(1))
    return log


def test_what_found_the_program_of_another_call_was_not_traced(log: TraceLog) -> None:
    found = Signature({"x": Leaf("array", "float32", (3,), host=True)}, ("x",), function=1)
    log.add("jax", "f", found, (Change("host array", "x", "a device array", "a NumPy array"),))
    assert len(Signatures.from_log(log, "f").traced) == 4


def test_each_signature_has_the_reason_for_its_trace(log: TraceLog) -> None:
    shown = Signatures.from_log(log, "f").traced
    assert [each.arguments for each in shown] == [f"x f32[{n}], n int" for n in (3, 4, 4, 5)]
    assert ["; ".join(change.words() for change in each.why) for each in shown] == [
        "first call",
        "x: f32[3] → f32[4] (shape)",
        "new function object (same code)",
        "first call after redefinition",
    ]


def test_all_functions_or_one_that_is_known(log: TraceLog) -> None:
    assert [each.name for each in Signatures.from_log(log).traced] == ["f", "f", "f", "f", "g"]
    assert [each.framework for each in Signatures.from_log(log, "g").traced] == ["torch"]
    assert Signatures.from_log(TraceLog()).traced == ()
    with pytest.raises(
        OptionError, match=r"^'h' has not been traced since .* loaded; traced functions: f, g$"
    ):
        Signatures.from_log(log, "h")
    with pytest.raises(OptionError, match="traced functions: none"):
        Signatures.from_log(TraceLog(), "h")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"predict": True, "signatures": True}, "--predict cannot be combined with --signatures"),
        ({"signatures": True, "watch": "on"}, "--signatures cannot be combined with --watch"),
        ({"watch": "maybe"}, "--watch must be on or off, not maybe"),
    ],
)
def test_options_that_do_not_go_together(options: dict[str, Any], text: str) -> None:
    with pytest.raises(OptionError) as error:
        TraceOptions(**options)
    assert str(error.value) == text


def test_options_for_a_line_alone() -> None:
    for alone in ({"predict": True}, {"signatures": True}, {"watch": "off"}):
        with pytest.raises(OptionError, match="only works on a single line"):
            TraceOptions(**alone).check("", "f(x)")
    with pytest.raises(OptionError, match="nothing to run"):
        TraceOptions(predict=True).check("", None)
    for allowed in ({"signatures": True}, {"watch": "off"}):
        TraceOptions(**allowed).check("", None)
    TraceOptions(most=1).check("", "f(x)")
    options, shown, code = TRACE.split("--history step")  # the old name of --signatures
    assert (options.signatures, code) == (True, "step")
    assert shown.renamed == (("--history", "--signatures"),)


def test_the_report_has_a_row_for_each_of_the_newest_fifty_signatures(log: TraceLog) -> None:
    headline, calls = Signatures.from_log(log).report().blocks
    detail = "of 2 functions, since ipyjaxbench was loaded"
    assert headline == Headline("signatures", "5 signatures", detail, "", "")
    assert isinstance(calls, Calls)
    assert calls.rows[1] == ("f", "x: f32[3] → f32[4] (shape) · x f32[4], n int")
    assert repr(Signatures.from_log(log)) == "<Signatures: 5>"
    detail = "of 0 functions, since ipyjaxbench was loaded"
    assert Signatures(()).report().blocks == (
        Headline("signatures", "0 signatures", detail, "", ""),
    )
    for size in range(51):
        log.add("jax", "f", of(100 + size))
    _, calls = Signatures.from_log(log, "f").report().blocks
    assert isinstance(calls, Calls)
    assert len(calls.rows) == 50
    assert calls.rows[-1][1].endswith("x f32[150], n int")
