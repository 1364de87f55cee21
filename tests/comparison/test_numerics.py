"""How far numbers are from each other, and what rounding explains."""

import math
from typing import Any

import numpy as np
import pytest

from ipyjaxbench.comparison.numerics import (
    Difference,
    Numbers,
    difference,
    numbers_of,
    relative_difference,
    tolerance,
)


@pytest.mark.parametrize(
    ("one", "other", "off"),
    [
        ([-4.0, 1.0], [-4.0, 2.0], 1 / 4),
        ([1.0], [-5.0], 6 / 5),
        ([3.0, math.nan], [3.0, math.nan], 0.0),
        ([3.0, math.nan], [3.0, 1.0], math.inf),
        ([2.0, math.inf], [1.0, math.inf], 1 / 2),  # equal infinities are no difference
        ([3 + 4j], [3 + 3j], 1 / 5),
        ([True, False], [True, True], 1.0),
        ([], [], 0.0),
        ([2**62], [2**62 + 1], math.inf),  # as floating-point numbers they are equal
        ([2**62], [2.0**62], 0.0),
        (["a"], ["b"], math.inf),
        (["1"], [1], math.inf),
    ],
)
def test_a_difference_is_relative_to_the_largest_number(
    one: list[Any], other: list[Any], off: float
) -> None:
    assert relative_difference(np.array(one), np.array(other)) == pytest.approx(off)


@pytest.mark.parametrize(
    ("dtype", "allowed"),
    [
        # The root of the distance from 1 to the next number.
        ("float64", 2.0**-26), ("float32", 2.0**-11.5), ("complex64", 2.0**-11.5),
        ("float16", 2.0**-5), ("bfloat16", 2.0**-3.5), ("float8_e4m3fn", 2.0**-1.5),
        ("float8_e5m2", 2.0**-1), ("int32", 0.0), ("bool", 0.0), ("of another library", 0.0),
    ],
)  # fmt: skip
def test_rounding_explains_a_third_of_the_digits_that_a_dtype_has(
    dtype: str, allowed: float
) -> None:
    assert tolerance(dtype) == pytest.approx(allowed / 3)
    assert tolerance(dtype, "float16") == pytest.approx(max(allowed, 2.0**-5) / 3)


def array(*values: float, dtype: str = "float64", **facts: Any) -> Numbers:
    return numbers_of(np.array(values, dtype))._replace(**facts)


def test_a_difference_matters_where_it_is_larger_than_rounding() -> None:
    assert not Difference(0.1, 0.1).matters
    assert Difference(0.11, 0.1).matters
    assert Difference(why=": its shape").matters
    assert not Difference(unseen="it is large").matters
    assert Difference() == Difference(0.0, 0.0, "", "")
    told = [each.how for each in (Difference(0.3), Difference(math.inf), Difference(why=": no"))]
    assert told == [" by 30 %", "", ": no"]
    found = difference(  # of several arrays the largest one counts
        [array(1.0), array(2.0), array(1.0)],
        [array(1.0), array(1.0), array(1.25, dtype="float32")],
    )
    assert (found.off, found.allowed) == (0.5, tolerance("float32"))
    assert (found.why, found.unseen) == ("", "")


def test_arrays_of_other_numbers_and_shapes_are_no_equal() -> None:
    one, two, square = array(1.0), array(1.0, 2.0), numbers_of([[1, 2], [3, 4]])
    assert difference([one], [one, two]).why == ": 2 arrays instead of 1"
    assert difference([one, one], [one]).why == ": 1 array instead of 2"
    assert difference([two], [square]).why == ": shape [2, 2] instead of [2]"
    assert difference([numbers_of(3)], [one]).why == ": shape [1] instead of []"
    assert difference([], [one]).unseen == difference([one], []).unseen
    assert difference([one], []).unseen == "not every arm returns arrays or numbers"


def test_a_gibibyte_is_compared_and_more_is_not() -> None:
    def refuse() -> Any:
        raise AssertionError("it was copied to the host")

    most = array(1.0, nbytes=2**30)
    assert difference([most], [array(2.0)]).off == 0.5
    more = array(1.0, nbytes=2**30 + 1, read=refuse)
    assert difference([more], [array(2.0)]).unseen == "they are larger than 1.00 GiB"
    assert difference([array(2.0, read=refuse)], [more]).unseen == "they are larger than 1.00 GiB"


def test_what_cannot_be_read_is_said_and_the_others_are_compared() -> None:
    def refuse() -> Any:
        raise TypeError("it is quantised")

    found = difference([array(1.0, read=refuse), array(4.0)], [array(1.0), array(3.0)])
    assert (found.off, found.unseen) == (0.25, "they contain no readable numbers")
