"""What values of options are accepted, and how those are refused that are not."""

import shlex
from collections.abc import Callable
from typing import Any

import pytest

from ipyjaxbench import validation
from ipyjaxbench.comparison import arm_labels
from ipyjaxbench.errors import OptionError
from ipyjaxbench.validation import checked

TRILLION = 10**12


@pytest.mark.parametrize(("rule", "accepted", "refused"), [
    (validation.whole, ["1", str(TRILLION)], ["0", str(TRILLION + 1), "1.5", "", "x"]),
    (validation.seconds, ["0", "0.5", str(TRILLION)], ["-0.1", str(TRILLION + 1), "nan", "s"]),
    (validation.levels, ["0", str(TRILLION)], ["-1", str(TRILLION + 1), "0.5"]),
    (validation.count, ["0", str(TRILLION)], ["-1", str(TRILLION + 1), "0.5"]),
    (validation.newest, ["1", "10000"], ["0", "10001", "2.5"]),
    (validation.share, ["0.01", "1"], ["0.009", "1.01", "half"]),
    (validation.digits, ["1", "15"], ["0", "16", "3.0"]),
])  # fmt: skip
def test_numbers_up_to_both_ends_of_their_range_are_accepted(
    rule: Callable[[str], float], accepted: list[str], refused: list[str]
) -> None:
    assert [rule(text) for text in accepted] == [float(text) for text in accepted]
    for text in refused:
        with pytest.raises(ValueError, match="number"):
            rule(text)


def test_an_age_is_a_number_with_a_unit() -> None:
    ages = {"90m": 5400, "12h": 43_200, "7d": 604_800, "2w": 1_209_600, "1y": 31_536_000,
            " 1.5h ": 5400}  # fmt: skip
    assert {text: validation.age(text) for text in ages} == ages
    for text in ("7", "d", "-7d", "7 d", "7days", "1234567d"):
        with pytest.raises(ValueError, match="followed by m, h, d, w or y"):
            validation.age(text)


@pytest.mark.parametrize(
    ("rule", "accepted", "refused"),
    [
        (validation.variable, ["x", "größe_2"], ["2x", "for", "a.b", ""]),
        (validation.name, ["before", "my own", "n=16"], ["", " ", "-x", "last", "best", "a?", "'"]),
        (validation.chip, ["tpu:v5e", "tpu:v5e:2x2", "tpu:v4:2x2x4"],
         ["v5e", "tpu:", "tpu:v5e:4", "tpu:v5e:2x2 "]),
    ],
)  # fmt: skip
def test_names_are_accepted_as_they_were_typed(
    rule: Callable[[str], str], accepted: list[str], refused: list[str]
) -> None:
    assert [rule(text) for text in accepted] == accepted
    for text in refused:
        with pytest.raises(ValueError, match=r"a .*name|a chip"):
            rule(text)


@pytest.mark.parametrize(
    ("text", "arrays"),
    [
        ("f32[128,64]", (("float32", (128, 64)),)),
        (" bf16[ 8 ], bool[],u8[0] ", (("bfloat16", (8,)), ("bool", ()), ("uint8", (0,)))),
        ("i64[2, 3],c64[1]", (("int64", (2, 3)), ("complex64", (1,)))),
    ],
)
def test_types_and_shapes_are_read_as_reports_spell_them(text: str, arrays: object) -> None:
    assert validation.shapes(text) == arrays
    for wrong in ("", "f32", "f32[2] i32[]", "f32[-1]"):
        with pytest.raises(ValueError, match=r"^dtypes with shapes$"):
            validation.shapes(wrong)
    with pytest.raises(ValueError, match=r"shapes \(f128 is not one of f16, bf16, f32, f64, "):
        validation.shapes("f32[2],f128[3]")


def test_axes_are_read_with_the_arguments_that_they_cut() -> None:
    assert validation.axes("x:0, p['w']:12") == (("x", 0), ("p['w']", 12))
    for text in ("x", ":0", "x:", "x:a", "x:-1", "x:0,", ""):
        with pytest.raises(ValueError, match="arguments with the axis to split"):
            validation.axes(text)


def test_swept_values_stay_text() -> None:
    assert validation.swept("n=2**6..2**9") == ("n", "2**6..2**9")
    assert validation.swept("kind='a=b'") == ("kind", "'a=b'")
    for text in ("n", "n=", "n= ", "=3", "2n=3", "for=3"):
        with pytest.raises(ValueError, match="a name and its values"):
            validation.swept(text)


def test_an_error_names_the_option_and_what_was_typed() -> None:
    value: Any = checked("4", validation.digits, typed="-p 4", example="-p 5")
    assert (value, type(value)) == (4, int)
    with pytest.raises(OptionError) as caught:
        checked("0", validation.newest, typed="--last 0", example="--last 50")
    message = "--last 0: must be a whole number from 1 to 10000, for example --last 50"
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "text", ["a", "several lines", "2 threads", "größe", "jax (cpu)", "in place", "a" * 24]
)
def test_a_label_is_one_in_a_cell_and_in_python(text: str) -> None:
    assert validation.label(text) == text
    assert arm_labels(f"{text}: f(x)") == [text]


@pytest.mark.parametrize(
    "text",
    ["", " a", "a ", "<b>", "-x", "a, b", "n=1", "a[0]", "{a}", "a:b", "'a'", "a#", "a;", "a?",
     "a\\b", "a\nb", "a\x1b", "for loop", "with a key", "setup", "setup a", "match x", "f(x",
     "my lambda"],
)  # fmt: skip
def test_what_is_no_label_in_a_cell_is_none_in_python(text: str) -> None:
    with pytest.raises(ValueError, match="a label"):
        validation.label(text)
    assert arm_labels(f"{text}: f(x)") != [text]
    with pytest.raises(ValueError, match="a label of at most 24 characters"):
        validation.label("a" * 25)


@pytest.mark.parametrize(
    ("parts", "values", "name"),
    [
        (["before"], {}, "before"),
        (["", "a"], {}, "a"),
        (["sw", "a"], {"n": "16"}, "sw.a.n=16"),
        (["my own", "several lines"], {"shape": "(2, 3)", "d": "'f32'"},
         "my_own.several_lines.shape=(2,3).d=f32"),
    ],
)  # fmt: skip
def test_kept_names_are_words(parts: list[str], values: dict[str, str], name: str) -> None:
    assert validation.kept_name(*parts, **values) == name
    assert shlex.split(name) == [name]
