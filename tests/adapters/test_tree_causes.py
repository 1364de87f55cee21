"""Trees of another class, or in another order, are told as such, with advice that helps."""

import equinox as eqx
import jax
import pytest
import tensorflow as tf

from tests.shell import Shell

JAX = "X = jax.numpy.ones(3)\n@jax.jit\ndef f(d): return jax.tree.leaves(d)[0] * 2"
MODELS = """
X = jax.numpy.ones(3)
class A(eqx.Module):
    w: jax.Array
class B(eqx.Module):
    w: jax.Array
@eqx.filter_jit
def f(d): return d.w * 2
"""
TENSORFLOW = "X = tf.ones(3)\n@tf.function\ndef f(d): return d[0] * 2"
CLASS = "Pass `d` as the same class in every call: each class needs its own trace"
ORDER = "Give `d` its keys in the same order in every call"
KEYS = "Keep the same keys and lengths in every call"
ONCE = "Each new value of `d` needs its own trace: use few, and create objects once"


@pytest.mark.parametrize(
    ("setup", "one", "other", "words", "advice"),
    [
        (MODELS, "A(X)", "B(X)", "d: A → B", CLASS),
        (JAX, "[X]", "(X,)", "d: list → tuple", CLASS),
        (JAX, "[X]", "[X, X]", "d[1] was added", KEYS),
        (JAX, "OrderedDict(a=X, b=X)", "OrderedDict(b=X, a=X)",
         "d: ('a', 'b') → ('b', 'a') (order)", ORDER),
        (JAX, "OrderedDict(a=X, b=X)", "OrderedDict(b=X)", "d['a'] was removed", KEYS),
        (JAX, "defaultdict(lambda: 0, a=X)", "defaultdict(lambda: 0, a=X)",
         "d: <lambda> → another <lambda> (static value)", ONCE),
        (TENSORFLOW, "[X]", "(X,)", "d: list → tuple", CLASS),
    ],
)  # fmt: skip
def test_a_tree_of_another_class_or_order(
    shell: Shell, setup: str, one: str, other: str, words: str, advice: str
) -> None:
    shell.names |= {"eqx": eqx, "jax": jax, "tf": tf}
    shell.run(f"from collections import OrderedDict, defaultdict\n{setup}")
    shell.run(f"f({one})")
    shell.run(f"%%trace_cached -qv seen\nf({other})")
    (call,) = shell.names["seen"].calls
    assert [each.words() for each in call.causes] == [words]
    assert call.fixes == (advice,)
