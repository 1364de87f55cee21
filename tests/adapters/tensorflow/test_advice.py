"""What to write so that a tf.function is not traced again, by what changed."""

import pytest

from ipyjaxbench.adapters.tensorflow.retracing.advice import fixes
from ipyjaxbench.retracing import Change

SHAPE = Change("shape", "x", "f32[3]", "f32[4]")
TRUTH = "one trace for each value of n: keep them few, and build them once"
NUMBER = (
    "tf.constant(...) for n, where the function takes a tensor: each new Python number is traced"
    " anew"
)


def fixed(*why: Change, name: str = "f", relaxed: bool = False, xla: bool = False) -> list[str]:
    return list(fixes(name, why, relaxed=relaxed, xla=xla))


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("1.0", "2.0", NUMBER), ("1", "2j", NUMBER), ("-1", "2", NUMBER),
        ("True", "False", TRUTH), ("1.0", "None", TRUTH), ("None", "1.0", TRUTH),
        ("'a'", "'b'", TRUTH), ("sin", "cos", TRUTH), ("<object>", "1", TRUTH),
    ],
)  # fmt: skip
def test_numbers_become_tensors_and_other_values_stay_few(old: str, new: str, text: str) -> None:
    assert fixed(Change("static value", "n", old, new)) == [text]


def test_another_shape_needs_no_trace_unless_xla_compiles_it() -> None:
    (plain,) = fixed(SHAPE)
    assert plain.startswith("@tf.function(reduce_retracing=True), or an input_signature with None")
    assert fixed(SHAPE, relaxed=True) == []
    pad = ["few shapes: pad x, as in tf.pad: XLA compiles for each"]
    assert fixed(SHAPE, xla=True) == fixed(SHAPE, relaxed=True, xla=True) == pad


def test_a_method_is_called_on_one_object() -> None:
    (found,) = fixed(Change("static value", "self", "M", "another M"))
    assert found == "call f on the same object: TensorFlow traces it for each anew"


def test_of_a_model_only_what_its_user_can_do_is_said() -> None:
    anew = Change("function", new="the same code, made anew")
    assert fixed(anew, name="Sequential.fit") == [
        "compile(...) the model once: it makes and traces its functions anew"
    ]
    assert fixed(SHAPE, name="Sequential.fit") == []
    assert fixed(Change("dtype", "x", "f32[3]", "i32[3]"), name="Sequential.fit") == [
        "give x always with the same dtype: tf.cast(...) before the call"
    ]


def test_paths_of_one_advice_stand_together() -> None:
    wide = Change("shape", "y", "f32[3]", "f32[4]")
    (found,) = fixed(SHAPE, wide, xla=True)
    assert found.startswith("few shapes: pad x, y,")
