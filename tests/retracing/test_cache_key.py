"""In what two signatures differ, and which of the differences is the reason."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest

from ipyjaxbench.retracing.cache_key import (
    Change,
    Leaf,
    Property,
    Signature,
    describe_changes,
)
from ipyjaxbench.retracing.causes import compare
from ipyjaxbench.retracing.key_changes import changes

ARRAY = Leaf("array", "float32", (3,))


def of(form: tuple[str, ...] = (), /, **leaves: Leaf) -> Signature:
    return Signature(leaves, form or tuple(leaves))


def words(old: Signature, new: Signature, *, placed: bool = False) -> list[str]:
    return [change.words() for change in compare(new, [old], placed=placed)]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (Change("first", new="first call"), "first call"),
        (Change("guard", "x", new="x is another object"), "x is another object"),
        (Change("unknown", "g(x)"), "depends on g(x), which was not run"),
        (Change("function", new="same code"), "new function object (same code)"),
        (Change("captured", "n", "1", "2"), "new function object (captured n: 1 → 2)"),
        (Change("number", "n", "1", "2"), "n: 1 → 2 (static value)"),
        (Change("form", "x", "passed by keyword", "omitted"),
         "x was passed by keyword, is now omitted"),
        (Change("structure", "x['a']", new="was added"), "x['a'] was added"),
        (Change("transformation", "", "called under grad", "called under vmap"),
         "was called under grad, is now called under vmap"),
        (Leaf("array", "float32", (), weak=True), "f32[] weak"),
        (Leaf("variable", "int32", (2,)), "variable i32[2]"),
        (Leaf("int", value="3"), "int"),
        (Leaf("static", value="'a'"), "'a'"),
    ],
)  # fmt: skip
def test_a_change_and_a_leaf_in_words(change: Change | Leaf, text: str) -> None:
    assert change.words() == text


def test_a_value_that_changed_in_several_respects_is_named_once() -> None:
    shape, dtype = (Change(kind, "x", "f32[3]", "i32[4]") for kind in ("shape", "dtype"))
    other = Change("form", "n", "omitted", "passed by keyword")
    assert describe_changes([shape, other, dtype]) == (
        "x: f32[3] → i32[4] (shape, dtype); n was omitted, is now passed by keyword"
    )
    assert describe_changes([shape]) == shape.words()
    assert describe_changes([other, other]) == other.words()
    assert describe_changes([]) == ""


def array(*shape: int, **facts: Any) -> Leaf:
    return Leaf("array", "float32", shape or (3,), **facts)


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (ARRAY, array(3, 1), "x: f32[3] → f32[3,1] (rank)"),
        (ARRAY, array(4), "x: f32[3] → f32[4] (shape)"),
        (ARRAY, Leaf("array", "int32", (3,)), "x: f32[3] → i32[3] (dtype)"),
        (ARRAY, array(weak=True), "x: f32[3] → f32[3] weak (weak type)"),
        (ARRAY, Leaf("int", value="3"), "x: f32[3] → int (type)"),
        (Leaf("list"), Leaf("dict"), "x: list → dict"),
        (Leaf("int", value="1"), Leaf("int", value="2"), "x: 1 → 2 (static value)"),
        (Leaf("static", value="f", identity=1), Leaf("static", value="f", identity=2),
         "x: f → another f (static value)"),
        (array(layout="contiguous"), array(layout="strides (2,)"),
         "x: contiguous → strides (2,) (layout)"),
    ],
)  # fmt: skip
def test_a_reason_to_trace(old: Leaf, new: Leaf, text: str) -> None:
    assert words(of(x=old), of(x=new)) == [text]


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (array(host=True), array(committed=True), "x was a NumPy array, is now a device array"),
        (array(device="cpu:0"), array(device="cpu:1", committed=True),
         "x was uncommitted, is now committed to cpu:1"),
        (array(device="cpu:0", committed=True), array(),
         "x was committed to cpu:0, is now uncommitted"),
        (array(device="cpu:0,1", sharding="P('a')", committed=True), array(device="cpu:0"),
         "x was committed to cpu:0,1 as P('a'), is now uncommitted"),
        (array(device="cpu:0"), array(device="cpu:1"), "x: cpu:0 → cpu:1 (device)"),
        (array(sharding="P('a')"), array(sharding="P()"), "x: P('a') → P() (sharding)"),
    ],
)  # fmt: skip
def test_where_an_array_is_is_a_reason_to_compile(old: Leaf, new: Leaf, text: str) -> None:
    assert words(of(x=old), of(x=new), placed=True) == [text]
    wide = Leaf(**{**vars(new), "shape": (9,)})
    assert [each.split(" (")[-1] for each in words(of(x=old), of(x=wide))] == ["shape)"]
    assert words(of(x=old), of(x=wide), placed=True) == [text]
    chosen = array(device="cpu:0")  # by the framework
    assert words(of(x=ARRAY), of(x=chosen), placed=True) == []


def test_a_numbers_value_is_a_reason_where_nothing_else_is() -> None:
    one, two = (Leaf("int", value=n, abstract="int32 weak") for n in "12")
    assert words(of(x=ARRAY, n=one), of(x=ARRAY, n=two)) == ["n: 1 → 2 (static value)"]
    other = Leaf("array", "float32", (4,))
    assert words(of(x=ARRAY, n=one), of(x=other, n=two)) == ["x: f32[3] → f32[4] (shape)"]


def test_what_is_within_another_type_does_not_count() -> None:
    old = of(("x",), **{"x": Leaf("list"), "x[0]": ARRAY})
    new = of(("x",), **{"x": Leaf("dict"), "x['a']": ARRAY, "x.b": ARRAY})
    assert words(old, new) == ["x: list → dict"]
    longer = of(("x",), **{"x": Leaf("list"), "x[0]": ARRAY, "x[1]": ARRAY})
    assert words(old, longer) == ["x[1] was added"]
    assert words(longer, old) == ["x[1] was removed"]


def test_a_trees_static_data_counts_where_no_part_of_it_tells_what_changed() -> None:
    old, new = (Leaf("Config", value=f"Config({n})", identity=n) for n in (1, 2))
    assert words(of(x=old), of(x=new)) == ["x: Config(1) → Config(2) (static value)"]
    one, two = (Leaf("static", value=str(n)) for n in (1, 2))
    assert words(of(("x",), **{"x": old, "x.n": one}), of(("x",), **{"x": new, "x.n": two})) == [
        "x.n: 1 → 2 (static value)"
    ]


def test_how_arguments_are_given_and_what_surrounds_a_call() -> None:
    one, other = of(("x", "y="), x=ARRAY, y=ARRAY), of(("x", "y"), x=ARRAY, y=ARRAY)
    assert words(one, other) == ["y was passed by keyword, is now passed positionally"]
    assert words(other, of(("x",), x=ARRAY)) == ["y was passed positionally, is now omitted"]
    old = Signature({}, settings={"x64": "False"}, transformation="grad")
    new = Signature({}, settings={"x64": "True", "debug": "on"})
    assert [change.words() for change in changes(old, new)] == [
        "x64: False → True", "debug: ? → on", "was called under grad, is now called directly",
    ]  # fmt: skip


def test_what_another_function_object_captured() -> None:
    two = Leaf("static", value="2")
    old = Signature({}, function=1, captured={"n": Leaf("static", value="1"), "m": two})
    new = Signature({}, function=2, captured={"n": two, "m": two, "k": two})
    assert words(old, new) == ["new function object (captured n: 1 → 2)"]
    again = Signature({}, function=3, captured=new.captured)
    assert words(new, again) == ["new function object (same code)"]


def test_what_the_latest_program_takes_is_no_cause_there_and_alone_there() -> None:
    def reason(x: Leaf, *known: Leaf, accepted: Collection[Property] = ()) -> list[str]:
        before = [of(x=each) for each in known]
        return [change.words() for change in compare(of(x=x), before, accepted=accepted)]

    def leaf(size: int, dtype: str = "float32") -> Leaf:
        return Leaf("array", dtype, (size,), layout="usual")

    any_size = {("x", "shape")}
    other = leaf(4, "float64")
    assert reason(other, leaf(3), accepted=any_size) == ["x: f32[3] → f64[4] (dtype)"]
    # Where all is taken, what differs is told all the same: it is what is known.
    assert reason(leaf(4), leaf(3), accepted=any_size) == ["x: f32[3] → f32[4] (shape)"]
    # Of what an earlier program takes nothing is known: there the size counts too.
    known = leaf(3, "float64"), leaf(3)
    assert reason(replace(other, layout="odd"), *known, accepted=any_size) == [
        "x: f32[3] → f64[4] (dtype)", "x: usual → odd (layout)",
    ]  # fmt: skip


def test_the_nearest_one_is_compared_and_of_equal_ones_the_latest() -> None:
    def reason(new: Signature, *known: Signature) -> list[str]:
        return [change.words() for change in compare(new, known)]

    def sized(*shape: int, dtype: str = "float32") -> Signature:
        return of(x=Leaf("array", dtype, shape))

    known = sized(2), sized(3), sized(3, dtype="int32")
    assert reason(sized(4), *known) == ["x: f32[3] → f32[4] (shape)"]
    assert reason(sized(4), sized(2), sized(1, 2)) == ["x: f32[2] → f32[4] (shape)"]
    # The same one explains nothing.
    assert reason(sized(3), sized(3), sized(9)) == ["x: f32[9] → f32[3] (shape)"]
