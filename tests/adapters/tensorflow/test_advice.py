"""What to write so that a tf.function is not traced again, by what changed."""

import pytest

from ipyjaxbench.adapters.tensorflow.retracing.advice import fixes
from ipyjaxbench.retracing import Change

SHAPE = Change("shape", "x", "f32[3]", "f32[4]")
TRUTH = "Each new value of `n` needs its own trace: use few, and create objects once"
NUMBER = "Pass `n` as a tensor (`tf.constant(...)`): each new Python number is traced again"


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
    assert plain.startswith(
        "Use `@tf.function(reduce_retracing=True)`, or an `input_signature` with"
    )
    assert fixed(SHAPE, relaxed=True) == []
    pad = (
        "Use fewer distinct shapes: pad `x` to a fixed multiple (for instance with `tf.pad`)."
        " XLA compiles each shape"
    )
    assert fixed(SHAPE, xla=True) == fixed(SHAPE, relaxed=True, xla=True) == [pad]


def test_a_function_is_made_once_and_a_method_is_called_on_one_object() -> None:
    (found,) = fixed(Change("function", new="same code"))
    assert found.startswith("Call tf.function once and reuse its result: each new `f` object")
    (found,) = fixed(Change("static value", "self", "M", "another M"))
    assert found == "Call `f` on the same object: TensorFlow traces it again for each new one"


def test_of_a_model_only_what_its_user_can_do_is_said() -> None:
    anew = Change("function", new="same code")
    assert fixed(anew, name="Sequential.fit") == [
        "Call compile() on the model once: it resets and retraces the model's functions"
    ]
    assert fixed(SHAPE, name="Sequential.fit") == []
    assert fixed(Change("dtype", "x", "f32[3]", "i32[3]"), name="Sequential.fit") == [
        "Always pass `x` with the same dtype: `tf.cast(...)` before the call"
    ]


def test_paths_of_one_advice_stand_together() -> None:
    wide = Change("shape", "y", "f32[3]", "f32[4]")
    (found,) = fixed(SHAPE, wide, xla=True)
    assert found.startswith("Use fewer distinct shapes: pad `x`, `y` to")
