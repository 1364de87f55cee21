"""What is the same in all arms, and what is not: with NumPy and Python, and frameworks by hand."""

from typing import Any

import numpy as np
import pytest

from ipyjaxbench.adapters.python import Python
from ipyjaxbench.comparison import fairness
from ipyjaxbench.comparison.fairness import ArmFacts, check_fairness
from ipyjaxbench.device import DeviceInventory
from ipyjaxbench.frameworks import Placement, Scope, loaded
from ipyjaxbench.reports import Note
from ipyjaxbench.testing import FakeClock, FakeDevice
from ipyjaxbench.timing.validity.setting_notes import default_precision, reduced_precision
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.fake_framework import FakeCompilation, FakeFramework

X = np.arange(12.0).reshape(3, 4)
DEFAULT = (default_precision("gpu:0", "JAX's default", 3e-4, ""),)


def arm(
    value: Any = None,
    code: str = "f()",
    *,
    notes: tuple[Note, ...] = (),
    outputs: tuple[Placement, ...] = (),
    **names: Any,
) -> ArmFacts:
    """An arm that has given a value and reads these names."""
    scope = Scope(Snippet(Source.plain(code), names), loaded()[0])
    return ArmFacts(scope, outputs, value, notes)


def facts(**arms: ArmFacts) -> tuple[list[str], dict[str, str]]:
    """What is equal, and what is not."""
    equal, found = check_fairness(arms)
    return list(equal), {note.code: note.text for note in found}


@pytest.fixture(autouse=True)
def _no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads are told only where a test sets them."""
    for framework in loaded()[0]:
        monkeypatch.setattr(framework.capability(DeviceInventory), "threads", lambda: None)


# Results


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (X.copy(), "same results"),
        (X * (1 + 1e-12), "same results up to rounding"),
        ((X * (1 + 1e-5)).astype("float32"), "same results within 0.012 %"),  # 2**-11.5 / 3
        ((X * (1 + 1e-3)).astype("float16"), "same results within 1.0 %"),  # 2**-5 / 3
    ],
)
def test_results_are_equal_as_far_as_their_dtypes_hold(other: Any, words: str) -> None:
    assert facts(a=arm(X), b=arm(other)) == ([words], {})
    assert facts(a=arm(X), b=arm(X), c=arm(other)) == ([words], {})
    assert check_fairness({}) == check_fairness({"a": arm(X)}) == ((), ())


def test_the_arm_that_differs_from_the_first_one_is_told() -> None:
    equal, notes = facts(first=arm(X), same=arm(X), other=arm(X * 2))
    assert equal == []
    assert notes == {"other-result": "The result of other differs from that of first by 50 %."}
    told = "The result of two differs from that of one: 2 arrays instead of 1."
    assert facts(one=arm(X), two=arm([X, X + 1]))[1] == {"other-result": told}


def test_a_numpy_scalar_has_a_dtype() -> None:
    """So that a sum in float64 is not taken for one in float32."""
    single = Placement("", "numpy", 1, "float32", (), ("cpu",), 4)
    one = arm(np.float32(2.0) * np.ones(()), outputs=(single,))
    _, notes = facts(a=one, b=arm(np.float64(2.0)))
    assert notes == {"other-dtype": "Different dtypes: float32 (a); float64 (b)."}
    assert facts(a=arm(np.float32(2.0)), b=arm(np.float32(2.0)))[0] == ["same results", "float32"]
    assert facts(a=arm(2.0), b=arm(np.float64(2.0)))[1] == {}  # a Python number fits to any


def test_numbers_of_python_are_held_against_arrays() -> None:
    assert facts(a=arm(np.array(3.0)), b=arm(3)) == (["same results"], {})
    assert facts(a=arm([1, 2, 3]), b=arm(np.array([1.0, 2.0, 3.0]))) == (["same results"], {})
    assert facts(a=arm(np.array([1.0])), b=arm((2.0,)))[1].keys() == {"other-result"}
    assert facts(a=arm([1.0, 2.0]), b=arm((1.0, 2.0))) == (["same results"], {})
    assert facts(a=arm([10**400]), b=arm([1]))[1].keys() == {"other-result"}


@pytest.mark.parametrize("value", [None, "text", [], [1, "two"], object()])
def test_what_is_no_array_cannot_be_held_against_one(value: Any) -> None:
    equal, notes = facts(a=arm(X), b=arm(X), c=arm(value), d=arm(value))
    told = "The results of a, c and d were not compared: not every arm returns arrays or numbers."
    assert (equal, notes) == ([], {"not-compared": told})


@pytest.mark.parametrize(("one", "other", "equal"), [
    (1, 1.0, True),
    (0.1 + 0.2, 0.3, True),
    (1.0, 1.001, False),
    (2**62, 2**62 + 1, False),
    ("a", "b", False),
    (b"a", "a", False),
    (1, "1", False),
])  # fmt: skip
def test_numbers_and_strings_are_compared(one: Any, other: Any, equal: bool) -> None:
    told = {} if equal else {"other-result": "The result of c differs from that of a."}
    assert facts(a=arm(one), b=arm(one), c=arm(other)) == (["same results"] * equal, told)


def test_other_values_are_not_asked_and_none_says_nothing() -> None:
    class Odd:
        def __eq__(self, other: object) -> bool:
            raise AssertionError("it was compared")

        __hash__ = None  # type: ignore[assignment]

    assert facts(a=arm(None), b=arm(None)) == ([], {})
    told = "The results of a, b and c were not compared: they contain no readable numbers."
    assert facts(a=arm(1), b=arm(1), c=arm(Odd())) == ([], {"not-compared": told})
    assert facts(a=arm(1), b=arm(1), c=arm(None)) == ([], {"not-compared": told})


# What arms read


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        (arm(X, "f(x)", x=X), arm(X + 1, "f(y, z)", y=X + 1, z=1),
         "Different inputs: b reads y, a reads x, and their values differ."),
        (arm(X, "f(x)", x=X), arm(X, "f(y)", y=X + 1), None),  # the same result of other data
        (arm(X, "f(x)", x=X), arm(X + 1, "f(x)", x=X), None),  # the same array
        (arm(X, "f(x)", x=X), arm(X + 1, "f(y)", y=X.copy()), None),
        (arm(X, "f(x)", x=X), arm(X + 1, "f(y)", y=X[0]), None),  # a part of it
        (arm(X, "f(n)", n=1), arm(X + 1, "f(n)", n=2), None),  # no arrays
        (arm(X, "f(x, w)", x=X, w=X), arm(X + 1, "f(x)", x=X), None),
    ],
)  # fmt: skip
def test_other_data_are_told_where_results_differ(
    first: ArmFacts, second: ArmFacts, told: str | None
) -> None:
    assert facts(a=first, b=second)[1].get("other-data") == told


# Under what conditions


def at(device: str, dtype: str = "float32") -> Placement:
    return Placement("", "fake", 1, dtype, (2,), (device,), 8)


CPU, GPU = at("cpu:0"), at("gpu:0")


@pytest.mark.parametrize(
    ("first", "second", "equal", "notes"),
    [
        ((CPU,), (at("cpu:1"), CPU), ["float32", "cpu"], {}),
        ((GPU, at("cpu:0", "int8")), (GPU, at("cpu:0", "int8")),
         ["float32, int8", "cpu, gpu:0"], {}),
        ((GPU,), (at("cuda:0"),), ["float32", "gpu:0"], {}),  # whatever frameworks call it
        ((GPU,), (at("gpu:1"),), ["float32"],
         {"other-device": "Different devices: gpu:0 (a); gpu:1 (b)."}),
        ((CPU,), (), [], {}),  # not known of all arms
    ],
)  # fmt: skip
def test_where_results_are_and_of_which_dtype(
    first: tuple[Placement, ...], second: tuple[Placement, ...], equal: list[str], notes: Any
) -> None:
    assert facts(a=arm(outputs=first), b=arm(outputs=second)) == (equal, notes)


def test_conditions_that_differ_are_told_with_who_has_them() -> None:
    double, single = arm(outputs=(at("cpu:0", "float64"),)), arm(outputs=(GPU,))
    assert facts(z=single, b=double, a=single) == ([], {
        "other-dtype": "Different dtypes: float32 (z, a); float64 (b).",
        "other-device": "Different devices: cpu (b); gpu:0 (z, a).",
    })  # fmt: skip


def rounded(error: float | None) -> tuple[Note, ...]:
    """A Note on products of float32 that are so far off; none where they are exact."""
    return (reduced_precision("gpu:0", "a setting", error, ""),) if error else ()


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (rounded(3e-4), rounded(None), "TF32 (a); float32 (b)"),
        (rounded(2e-3), rounded(3e-4), "TF32 (b); bfloat16 (a)"),
        (rounded(None), rounded(5e-5), "bf16x3 (b); float32 (a)"),
        (rounded(3e-4), rounded(4e-4), None),
        (rounded(None), rounded(None), None),
        (DEFAULT, rounded(3e-4), None),  # only where the format differs
        (DEFAULT, rounded(None), "TF32 (a); float32 (b)"),
    ],
)
def test_products_that_are_rounded_in_other_ways_are_told(
    first: tuple[Note, ...], second: tuple[Note, ...], words: str | None
) -> None:
    told = words and f"Different precision: {words}."
    a, b = (arm(outputs=(GPU,), notes=notes) for notes in (first, second))
    assert facts(a=a, b=b)[1].get("other-precision") == told
    none = arm(outputs=(at("gpu:0", "bfloat16"),))  # has no products of float32
    assert "other-precision" not in facts(a=a, b=none)[1]


def test_threads_are_those_of_the_frameworks_in_play(monkeypatch: pytest.MonkeyPatch) -> None:
    fake, python = FakeFramework(FakeDevice(FakeClock())), Python()
    monkeypatch.setattr(fairness, "loaded", lambda: ([fake, python], {}))
    monkeypatch.setattr(fake.capability(DeviceInventory), "threads", lambda: 4)
    monkeypatch.setattr(python.capability(DeviceInventory), "threads", lambda: 1)
    of_fake, of_python = arm(outputs=(at("cpu:0"),)), arm()
    assert facts(a=of_fake, b=of_fake)[0][-1] == "4 threads each"
    notes = facts(a=of_fake, b=of_python)[1]
    assert notes["other-threads"] == "Different numbers of threads: 1 (b); 4 (a)."


# What not all arms do


@pytest.mark.parametrize(
    ("code", "alone", "text"),
    [
        ("copies", "copies-alone", "copies data"),
        ("half-product", "half-alone", "does half the work"),
    ],
)
def test_what_one_arm_does_alone_is_told(code: str, alone: str, text: str) -> None:
    note = Note(code, "In every call it goes.")
    told = {alone: f"Not like for like: only b {text}. In every call it goes."}
    assert facts(a=arm(), b=arm(notes=(note, Note("other", "No.")))) == ([], told)
    assert facts(a=arm(notes=(note,)), b=arm(notes=(note,))) == ([], {})


def test_eager_arms_beside_compiled_ones_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeFramework(FakeDevice(FakeClock()))
    monkeypatch.setattr(fairness, "loaded", lambda: ([fake], {}))
    compiled = arm(outputs=(at("cpu:0"),))
    compiled.scope.compiled = [fake.device.compile]
    eager, python = arm(outputs=(at("cpu:0"),)), arm()
    told = "b, d are compiled, a is not."
    found = facts(a=eager, b=compiled, c=python, d=compiled)[1]
    assert found["eager-beside-compiled"] == told
    assert "eager-beside-compiled" not in facts(b=compiled, c=python, d=compiled)[1]
    assert "eager-beside-compiled" not in facts(a=eager, c=python, d=eager)[1]


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("jit(f)()", "b, c are compiled, a is not."),
        ("@jit\ndef g(): return f()\ng()", "b, c are compiled, a is not."),
        ("grad(f)()", "b is compiled, a, c are not."),
        ("builds()", "b is compiled, a is not."),  # a function may do so: nothing is said of it
    ],
)
def test_an_arm_that_compiles_in_its_code_is_none_of_the_eager_ones(
    code: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def jit(function: Any) -> Any:
        return function

    fake, grad = FakeFramework(FakeDevice(FakeClock())), lambda function: function
    monkeypatch.setattr(FakeCompilation, "builders", ((jit, ""), (grad, "jit")))
    monkeypatch.setattr(fairness, "loaded", lambda: ([fake], {}))
    outputs = (at("cpu:0"),)
    arms = {n: arm(outputs=outputs) for n in "ab"}
    arms["b"].scope.compiled = [fake.device.compile]
    names = {"jit": jit, "grad": grad, "f": lambda: None, "builds": lambda: jit(None)}
    arms["c"] = ArmFacts(Scope(Snippet(Source.plain(code), names), [fake]), outputs, None)
    assert facts(**arms)[1]["eager-beside-compiled"] == told
