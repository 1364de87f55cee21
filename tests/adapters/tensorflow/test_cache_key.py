"""What tells calls of tf.function apart, read from what they are given."""

from collections import namedtuple
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from ipyjaxbench.adapters.tensorflow import TensorFlow
from ipyjaxbench.adapters.tensorflow.retracing import cache_key, cache_lookup
from ipyjaxbench.adapters.tensorflow.retracing.advice import fixes
from ipyjaxbench.retracing import Change, Leaf
from ipyjaxbench.retracing.protocol import Retracing


class Masked(tf.experimental.ExtensionType):  # type: ignore[misc]
    values: tf.Tensor
    how: str


Pair = namedtuple("Pair", "left right")


def leaves(*args: Any) -> dict[str, Leaf]:
    """What a signature of a function of its own holds of arguments."""
    function = tf.function(lambda v, w=None: v)
    found = dict(cache_key.signature(function, args, {}).leaves)
    if len(args) == 1:
        assert found.pop("w").value == "None"  # left out
    return found


@pytest.mark.parametrize(("value", "leaf"), [
    (tf.ones((2, 3)), Leaf("array", "float32", (2, 3))),
    (tf.TensorSpec((None, 3), tf.int32), Leaf("array", "int32", (-1, 3))),
    (tf.TensorSpec(None, tf.int32), Leaf("array", "int32")),
    (np.ones(3), Leaf("array", "float64", (3,))),
    (np.float32(2), Leaf("array", "float32")),
    (tf.Variable([1.0, 2.0]),
     Leaf("variable", "float32", (2,), value="a variable of its own")),
    (tf.ragged.constant([[1.0], [2.0, 3.0]]),
     Leaf("ragged", "float32", (2, -1), layout="ragged_rank=1, row_splits_dtype=int64")),
    (tf.sparse.from_dense([[1, 0]]), Leaf("sparse", "int32", (1, 2))),
    (2.5, Leaf("static", value="2.5")),
    ("a", Leaf("static", value="'a'", identity=hash("a"))),
])  # fmt: skip
def test_each_kind_of_value_is_told_apart_as_tensorflow_does(value: Any, leaf: Leaf) -> None:
    assert leaves(value) == {"v": leaf}


def words(value: Any) -> dict[str, str]:
    return {path: leaf.words() for path, leaf in leaves(value).items()}


def test_containers_and_datasets_are_told_part_by_part() -> None:
    assert words([1.0, (2.0,)]) == {"v": "list", "v[0]": "1.0", "v[1]": "tuple", "v[1][0]": "2.0"}
    assert words({"a": 1.0}) == {"v": "dict", "v['a']": "1.0"}
    assert words(Pair(1.0, 2.0)) == {"v": "Pair", "v.left": "1.0", "v.right": "2.0"}
    masked = Masked(tf.ones(3), "mean")
    assert words(masked) == {"v": "Masked", "v.values": "f32[3]", "v.how": "'mean'"}
    dataset = tf.data.Dataset.from_tensor_slices(np.ones((4, 2), "f"))
    assert words(dataset) == words(iter(dataset)) == {"v.element_spec": "f32[2]"}


def test_objects_are_told_apart_by_what_they_are_and_types_by_their_words() -> None:
    thing, other = type("Thing", (), {})(), type("Thing", (), {})()
    assert leaves(thing)["v"] == leaves(thing)["v"] != leaves(other)["v"]
    values = (thing, "Thing"), (tf.float32, "tf.float32"), (leaves, "leaves")
    assert all(leaves(value)["v"].value == told for value, told in values)
    variable, other = tf.Variable(1.0), tf.Variable(1.0)
    own = "a variable of its own"
    for second, told in ((variable, "the same variable as v"), (other, own)):
        assert [leaf.value for leaf in leaves(variable, second).values()] == [own, told]


def test_what_does_not_fit_the_function_is_told_as_it_was_given() -> None:
    function = tf.function(lambda v: v)
    found = cache_key.signature(function, (1.0, 2.0), {"k": 3.0}).leaves
    assert [leaf.value for leaf in found.values()] == ["1.0", "2.0", "3.0"]
    assert "k" in found


def test_the_surroundings_of_a_call_are_part_of_it() -> None:
    scale, table = 2.0, [1.0]
    function = tf.function(lambda v: v * scale * table[0])

    def settings() -> tuple[str, ...]:
        return tuple(cache_key.signature(function, (1.0,), {}).settings.values())

    assert [*cache_key.signature(function, (1.0,), {}).settings] == [
        "eager", "tf.distribute context",
    ]  # fmt: skip
    assert settings() == ("True", "none")
    with tf.distribute.OneDeviceStrategy("/cpu:0").scope():
        assert settings() == ("True", "cross-replica")
    with tf.Graph().as_default():
        assert settings() == ("False", "none")
    assert cache_key.signature(function, (1.0,), {}).captured["scale"].words() == "2.0"
    assert cache_key.signature(tf.function(abs), (1.0,), {}).captured == {}


# The traces that there are


def test_how_the_last_trace_differs_from_the_nearest_one_is_told() -> None:
    function = tf.function(lambda x, n: x * n)
    function(tf.ones(3), 2.0)
    assert cache_lookup.last_difference(function) == ""
    function(tf.ones((3, 3)), 4.0)
    function(tf.ones(3), 3.0)
    assert cache_lookup.last_difference(function) == "n: Literal[2.0] → Literal[3.0]"
    with tf.distribute.OneDeviceStrategy("/cpu:0").scope():
        function(tf.ones(3), 3.0)
    assert cache_lookup.last_difference(function) == "same types, different context"


def test_traces_that_take_several_shapes_are_known_as_more_are_made() -> None:
    function = tf.function(lambda x: x * 2, reduce_retracing=True)
    function(tf.ones(3))
    assert not cache_lookup.has_unknown_shapes(function, 1)
    function(tf.ones(4))
    assert not cache_lookup.has_unknown_shapes(function, 1)  # as it was when there was one
    assert cache_lookup.has_unknown_shapes(function, 2)
    assert cache_lookup.has_unknown_shapes(tf.function(leaves), 0) is False


def test_it_is_known_when_a_graph_is_made() -> None:
    is_tracing = TensorFlow().capability(Retracing).is_tracing
    seen: list[bool] = []
    tf.function(lambda x: seen.append(is_tracing((x,))))(tf.ones(1))
    assert [is_tracing(()), *seen] == [False, True]


# What to write

SHAPE = Change("shape", "x", "f32[3]", "f32[4]")
ANEW = Change("function", new="same code")
VALUE = "Each new value of `n` needs its own trace"
NUMBER = "Pass `n` as a tensor (`tf.constant(...)`): each new Python number is traced again"
PAD = "Use fewer distinct shapes: pad `x` to a fixed multiple"


def value(old: str, new: str, path: str = "n") -> Change:
    return Change("static value", path, old, new)


@pytest.mark.parametrize(("change", "options", "told"), [
    (value("1.0", "2.0"), {}, NUMBER), (value("1", "2j"), {}, NUMBER),
    (value("True", "False"), {}, VALUE), (value("1.0", "None"), {}, VALUE),
    (value("None", "1.0"), {}, VALUE), (value("'a'", "'b'"), {}, VALUE),
    (value("M", "another M", "self"), {}, "Call `f` on the same object"),
    (SHAPE, {}, "Use `@tf.function(reduce_retracing=True)`, or an `input_signature` with"),
    (SHAPE, {"relaxed": True}, ""), (SHAPE, {"xla": True}, PAD),
    (SHAPE, {"relaxed": True, "xla": True}, PAD), (SHAPE, {"name": "Sequential.fit"}, ""),
    (ANEW, {}, "Call tf.function once and reuse its result: each new `f` object"),
    (ANEW, {"name": "Sequential.fit"}, "Call compile() on the model once"),
    (Change("dtype", "x", "f32[3]", "i32[3]"), {"name": "Sequential.fit"},
     "Always pass `x` with the same dtype: `tf.cast(...)` before the call"),
])  # fmt: skip
def test_it_says_what_to_write(change: Change, options: dict[str, Any], told: str) -> None:
    found = fixes(
        **{"name": "f", "why": [change], "again": "", "relaxed": False, "xla": False, **options}
    )
    assert len(found) == bool(told)
    assert "".join(found).startswith(told)
