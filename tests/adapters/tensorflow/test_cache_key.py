"""What tells calls of tf.function apart, read from what they are given."""

from collections import namedtuple
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from ipyjaxbench.adapters.tensorflow.retracing import cache_key, cache_lookup
from ipyjaxbench.frameworks import loaded
from ipyjaxbench.retracing import Leaf
from ipyjaxbench.retracing.protocol import Retracing

Pair = namedtuple("Pair", "left right")


def leaves(*args: Any) -> dict[str, Leaf]:
    """What a signature of a function of its own holds of arguments."""
    function = tf.function(lambda v, w=None: v)
    found = dict(cache_key.signature(function, args, {}).leaves)
    if len(args) == 1:
        assert found.pop("w").value == "None"  # left out
    return found


@pytest.mark.parametrize(
    ("value", "leaf"),
    [
        (tf.ones((2, 3)), Leaf("array", "float32", (2, 3))),
        (tf.TensorSpec((None, 3), tf.int32), Leaf("array", "int32", (-1, 3))),
        (tf.TensorSpec(None, tf.int32), Leaf("array", "int32")),
        (np.ones(3), Leaf("array", "float64", (3,))),
        (np.float32(2), Leaf("array", "float32")),
        (tf.Variable([1.0, 2.0]),
         Leaf("variable", "float32", (2,), value="a variable of its own")),
        (2.5, Leaf("static", value="2.5")),
        ("a", Leaf("static", value="'a'", identity=hash("a"))),
    ],
)  # fmt: skip
def test_each_kind_of_value_is_told_apart_as_tensorflow_does(value: Any, leaf: Leaf) -> None:
    assert leaves(value) == {"v": leaf}


def words(value: Any) -> dict[str, str]:
    return {path: leaf.words() for path, leaf in leaves(value).items()}


def test_containers_are_told_part_by_part() -> None:
    assert words([1.0, (2.0,)]) == {"v": "list", "v[0]": "1.0", "v[1]": "tuple", "v[1][0]": "2.0"}
    assert words({"a": 1.0}) == {"v": "dict", "v['a']": "1.0"}
    assert words(Pair(1.0, 2.0)) == {"v": "Pair", "v.left": "1.0", "v.right": "2.0"}


def test_a_dataset_is_told_by_its_elements() -> None:
    dataset = tf.data.Dataset.from_tensor_slices(np.ones((4, 2), "f"))
    assert words(dataset) == {"v.element_spec": "f32[2]"}
    assert words(iter(dataset)) == {"v.element_spec": "f32[2]"}


def test_a_variable_that_is_given_twice_is_the_same() -> None:
    variable = tf.Variable(1.0)
    assert [leaf.value for leaf in leaves(variable, variable).values()] == [
        "a variable of its own", "the same variable as v",
    ]  # fmt: skip
    assert leaves(variable, tf.Variable(1.0))["w"].value == "a variable of its own"


def test_objects_are_told_apart_by_what_they_are_and_types_by_their_words() -> None:
    thing, other = type("Thing", (), {})(), type("Thing", (), {})()
    assert leaves(thing)["v"] == leaves(thing)["v"] != leaves(other)["v"]
    assert leaves(thing)["v"].value == "Thing"
    assert leaves(tf.float32)["v"].value == "tf.float32"
    assert leaves(abs_of)["v"].value == "abs_of"


def abs_of(x: Any) -> Any:
    return tf.abs(x)


def test_what_does_not_fit_the_function_is_told_as_it_was_given() -> None:
    function = tf.function(lambda v: v)
    found = cache_key.signature(function, (1.0, 2.0), {"k": 3.0}).leaves
    assert [leaf.value for leaf in found.values()] == ["1.0", "2.0", "3.0"]
    assert "k" in found


def test_the_surroundings_of_a_call_are_part_of_it() -> None:
    function = tf.function(lambda v: v)

    def settings() -> dict[str, str]:
        return dict(cache_key.signature(function, (1.0,), {}).settings)

    assert settings() == {"eager": "True", "tf.distribute context": "none"}
    with tf.distribute.OneDeviceStrategy("/cpu:0").scope():
        assert settings()["tf.distribute context"] == "cross-replica"
    with tf.Graph().as_default():
        assert settings()["eager"] == "False"


def test_plain_values_around_a_function_are_part_of_its_trace() -> None:
    scale, table = 2.0, [1.0]
    function = tf.function(lambda v: v * scale * table[0])
    captured = cache_key.signature(function, (1.0,), {}).captured
    assert captured["scale"].words() == "2.0"
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
    assert cache_lookup.has_unknown_shapes(tf.function(abs_of), 0) is False


def test_it_is_known_when_a_graph_is_made() -> None:
    (adapter,) = (each for each in loaded()[0] if each.name == "tensorflow")
    is_tracing = adapter.capability(Retracing).is_tracing
    seen: list[bool] = []

    def function(x: Any) -> Any:
        seen.append(is_tracing((x,)))
        return x

    function(tf.ones(1))
    tf.function(function)(tf.ones(1))
    assert seen == [False, True]
