"""What counts as compiled beside an arm that is: the user's, not a framework's own functions."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest
import torch

from ipyjaxbench.comparison.fairness import ArmFacts, check_fairness
from ipyjaxbench.frameworks import Placement, Scope, loaded
from ipyjaxbench.usercode.snippet import Snippet, Source

NAMES: dict[str, Any] = {
    "jnp": jnp,
    "x": jnp.ones(3),
    "jitted": jax.jit(lambda x: x + 1),
    "sine": jax.jit(jnp.sin),
    "t": torch.ones(3),
    "compiled": torch.compile(lambda t: t + 1, backend="eager"),
    "relu": torch.compile(torch.nn.functional.relu, backend="eager"),
    "net": torch.compile(torch.nn.Linear(3, 3), backend="eager"),
    "plain": torch.nn.Linear(3, 3),
}


@pytest.mark.parametrize(
    ("framework", "sure", "code", "is_compiled"),
    [
        ("jax", "jitted(x)", "jnp.sin(x)", False),
        ("jax", "jitted(x)", "sine(x)", True),
        ("torch", "compiled(t)", "plain(t)", False),
        ("torch", "compiled(t)", "net(t)", True),
        ("torch", "compiled(t)", "relu(t)", True),
    ],
)
def test_what_the_user_compiled_is_no_eager_arm(
    framework: str, sure: str, code: str, is_compiled: bool
) -> None:
    outputs = (Placement("", framework, 1, "float32", (3,), ("cpu",), 12),)
    arms = {
        label: ArmFacts(Scope(Snippet(Source.plain(each), NAMES), loaded()[0]), outputs, None)
        for label, each in (("a", sure), ("b", code))
    }
    told = [n.text for n in check_fairness(arms)[1] if n.code == "eager-beside-compiled"]
    assert told == ([] if is_compiled else ["a is compiled, b is not."])
