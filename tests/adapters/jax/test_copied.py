"""A copy of a jitted function shares its programs, and is told by the name of what was jitted."""

import copy
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from ipyjaxbench.retracing.observe import keep_learning
from tests.traced import observed

CODE = """
scale = 2.0
def plain(x, n=1): return x * scale
f = jax.jit(plain, static_argnames="n")
f(x)
g = copied(f)
"""


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("call", ["g(x)", "list(map(g, [x]))"])
def test_a_copy_is_as_stale_as_the_original(copied: Any, call: str) -> None:
    names: dict[str, Any] = {"jax": jax, "x": jnp.ones(3), "copied": copied}
    keep_learning()
    exec(CODE, names)
    before = observed("f(x)\ng(x)\ng(x)", names).calls  # what `deepcopy` gives looks up once
    assert [before[0].state, before[-1].state] == ["CACHED", "CACHED"]
    names["scale"] = 3.0
    (found,) = observed(call, names).calls
    assert (found.name, found.state) == ("plain", "STALE")
    assert not vars(names["g"])  # which is the user's


def test_what_is_static_in_a_copy_is_known() -> None:
    names: dict[str, Any] = {"jax": jax, "x": jnp.ones(3), "copied": copy.copy}
    exec(CODE, names)
    *_, last = observed("f(x, n=2)\ng(x, n=3)", names).calls
    assert [(each.kind, each.path) for each in last.why] == [("static value", "n")]
    assert "remove it from the static arguments" in last.fixes[0]
