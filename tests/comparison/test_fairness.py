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
from ipyjaxbench.timing.validity.notes import default_precision, reduced_precision
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.fake_framework import FakeFramework

X = np.arange(12.0).reshape(3, 4)


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


def test_a_numpy_scalar_has_a_dtype() -> None:
    """So that a sum in float64 is not taken for one in float32."""
    single = Placement("", "numpy", 1, "float32", (), ("cpu",), 4)
    one = arm(np.float32(2.0) * np.ones(()), outputs=(single,))
    _, notes = facts(a=one, b=arm(np.float64(2.0)))
    assert notes == {"other-dtype": "Different dtypes: float32 (a); float64 (b)."}
    assert facts(a=arm(np.float32(2.0)), b=arm(np.float32(2.0)))[0] == ["same results", "float32"]
    assert facts(a=arm(2.0), b=arm(np.float64(2.0)))[1] == {}  # a Python number fits to any


def test_the_arm_that_differs_from_the_first_one_is_told() -> None:
    equal, notes = facts(first=arm(X), same=arm(X), other=arm(X * 2))
    assert equal == []
    assert notes == {"other-result": "The result of other differs from that of first by 50 %."}
    _, notes = facts(one=arm(X), two=arm([X, X + 1]))
    assert notes == {
        "other-result": "The result of two differs from that of one: 2 arrays instead of 1."
    }


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


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1, 1.0, True),
        (0.1 + 0.2, 0.3, True),
        (1.0, 1.001, False),
        (3, 4, False),
        (2**62, 2**62 + 1, False),
        (1 + 2j, 1 + 2j, True),
        ("a", "a", True),
        ("a", "b", False),
        (b"a", "a", False),
        (1, "1", False),
    ],
)
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


def test_a_single_arm_is_neither_fair_nor_unfair() -> None:
    assert check_fairness({}) == check_fairness({"a": arm(X)}) == ((), ())


# What arms read


def test_other_data_are_told_where_results_differ() -> None:
    a, b = arm(X, "f(x)", x=X), arm(X + 1, "f(y, z)", y=X + 1, z=1)
    assert (
        facts(a=a, b=b)[1]["other-data"]
        == "Different inputs: b reads y, a reads x, and their values differ."
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (arm(X, "f(x)", x=X), arm(X, "f(y)", y=X + 1)),  # the same result of other data
        (arm(X, "f(x)", x=X), arm(X + 1, "f(x)", x=X)),  # the same array
        (arm(X, "f(x)", x=X), arm(X + 1, "f(y)", y=X.copy())),
        (arm(X, "f(x)", x=X), arm(X + 1, "f(y)", y=X[0])),  # a part of it
        (arm(X, "f(n)", n=1), arm(X + 1, "f(n)", n=2)),  # no arrays
        (arm(X, "f(x, w)", x=X, w=X), arm(X + 1, "f(x)", x=X)),
    ],
)
def test_the_same_data_and_other_shapes_of_it_are_not(first: ArmFacts, second: ArmFacts) -> None:
    assert "other-data" not in facts(a=first, b=second)[1]


# Under what conditions


def at(device: str, dtype: str = "float32") -> Placement:
    return Placement("", "fake", 1, dtype, (2,), (device,), 8)


def test_conditions_that_are_the_same_everywhere_are_told() -> None:
    one, other = arm(outputs=(at("cpu:0"),)), arm(outputs=(at("cpu:1"), at("cpu:0")))
    assert facts(a=one, b=other) == (["float32", "cpu"], {})
    two = arm(outputs=(at("gpu:0"), at("cpu:0", "int8")))
    assert facts(a=two, b=two) == (["float32, int8", "cpu, gpu:0"], {})


def test_conditions_that_differ_are_told_with_who_has_them() -> None:
    double, single = arm(outputs=(at("cpu:0", "float64"),)), arm(outputs=(at("gpu:0"),))
    equal, notes = facts(z=single, b=double, a=single)
    assert equal == []
    assert notes == {
        "other-dtype": "Different dtypes: float32 (z, a); float64 (b).",
        "other-device": "Different devices: cpu (b); gpu:0 (z, a).",
    }


def test_a_gpu_is_one_whatever_frameworks_call_it_and_two_gpus_are_two() -> None:
    on_cuda, on_gpu = arm(outputs=(at("cuda:0"),)), arm(outputs=(at("gpu:0"),))
    assert facts(a=on_cuda, b=on_gpu) == (["float32", "gpu:0"], {})
    notes = facts(a=on_cuda, b=arm(outputs=(at("gpu:1"),)))[1]
    assert notes == {"other-device": "Different devices: gpu:0 (a); gpu:1 (b)."}


def test_what_is_not_known_of_all_arms_is_neither_the_same_nor_another() -> None:
    assert facts(a=arm(outputs=(at("cpu:0"),)), b=arm()) == ([], {})


@pytest.mark.parametrize(
    ("errors", "words"),
    [
        ((3e-4, None), "TF32 (a); float32 (b)"),
        ((2e-3, 3e-4), "TF32 (b); bfloat16 (a)"),
        ((None, 5e-5), "bf16x3 (b); float32 (a)"),
        ((3e-4, 4e-4), None),
        ((None, None), None),
    ],
)
def test_products_that_are_rounded_in_other_ways_are_told(
    errors: tuple[float | None, float | None], words: str | None
) -> None:
    found = [(reduced_precision("gpu:0", "a setting", e, ""),) if e else () for e in errors]
    a, b = (arm(outputs=(at("gpu:0"),), notes=notes) for notes in found)
    told = facts(a=a, b=b)[1].get("other-precision")
    assert told == (words and f"Different precision: {words}.")


def test_a_default_differs_from_a_setting_only_where_the_format_does() -> None:
    by_default = (default_precision("gpu:0", "JAX's default", 3e-4, ""),)
    asked_for = (reduced_precision("gpu:0", "a setting", 3e-4, ""),)
    one, other, exact = (arm(outputs=(at("gpu:0"),), notes=n) for n in (by_default, asked_for, ()))
    assert "other-precision" not in facts(a=one, b=other)[1]
    told = facts(a=one, b=exact)[1]["other-precision"]
    assert told == "Different precision: TF32 (a); float32 (b)."


def test_an_arm_without_float32_has_no_precision_to_differ() -> None:
    rounded = (reduced_precision("gpu:0", "a setting", 3e-4, ""),)
    one, other = arm(outputs=(at("gpu:0"),), notes=rounded), arm(outputs=(at("gpu:0", "bfloat16"),))
    assert "other-precision" not in facts(a=one, b=other)[1]


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
        ("copies", "copies-alone", "Not like for like: only b copies data. In every call it goes."),
        (
            "half-product",
            "half-alone",
            "Not like for like: only b does half the work. In every call it goes.",
        ),
    ],
)
def test_what_one_arm_does_alone_is_told(code: str, alone: str, text: str) -> None:
    note = Note(code, "In every call it goes.")
    assert facts(a=arm(), b=arm(notes=(note, Note("other", "No.")))) == ([], {alone: text})
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
