"""A fix that traces, and gives something else in the trace than the code gives, is no fix."""

import sys
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded

from ipyjaxbench import Diagnosis, UntraceableError
from ipyjaxbench.adapters.shared.diagnosis import eager
from ipyjaxbench.adapters.torch.diagnosis import eager_check
from ipyjaxbench.adapters.torch.diagnosis.eager_check import EagerCall
from ipyjaxbench.graphs.explain import explain
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.usercode.call import Call
from ipyjaxbench.usercode.snippet import Source
from tests.adapters.shared.code import names_of

CODE = """
def only_text(x):
    return len(f"{float(x[0])}")
def text_elsewhere(x):
    if x.sum() > 0:
        x = x * 2
    return x * len(str(x))
def key_by_value(x):
    n = int(x[0])
    return x * {1: 5, 2: 6}.get(n, 0)
def masked_text(x):
    y = x[x > 1]
    return x * len(str(y.detach()))
SEEN = []
class Normed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.calls, self.limit = torch.nn.BatchNorm1d(3), 0, 100.0
    def forward(self, x):
        self.calls += 1
        SEEN.append(x)
        print("computed")
        np.random.rand()
        h = self.norm(x)
        if self.limit is not None and h.sum() > self.limit:
            h = -h
        return h
def dropped(x):
    x = torch.nn.functional.dropout(x, 0.5)
    return x if x.sum() > 0 else -x
def writing(x):
    with open("/nowhere/at/all", "w"):
        pass
    return x if x.sum() > 0 else -x
def spelled(x):
    return len(str(x))
"""
X = torch.arange(1.0, 4.0)
NAMES = names_of(CODE, torch=torch, np=np, x=X)


@pytest.fixture(autouse=True)
def reset() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def diagnosis(code: str, shapes: Any = (), **names: Any) -> Diagnosis:
    with pytest.raises(UntraceableError) as caught:
        trace_program(Source.plain(code), {**NAMES, **names}, GraphOptions(shapes=shapes))
    return caught.value.diagnosis


@pytest.mark.parametrize("name", ["only_text", "text_elsewhere", "key_by_value", "masked_text"])
def test_code_that_gives_something_else_in_the_trace_is_not_advised(name: str) -> None:
    found = diagnosis(f"{name}(x)")
    assert found.fixes == ()
    assert found.advice


def test_it_is_not_advised_for_torch_compile_either() -> None:
    with pytest.raises(torch._dynamo.exc.TorchDynamoException) as caught:
        torch.compile(NAMES["key_by_value"], fullgraph=True, backend="eager")(X)
    assert explain(caught.value).fixes == ()


def test_a_module_is_made_and_traced_and_left_as_it_was(
    capsys: pytest.CaptureFixture[str],
) -> None:
    module, x = NAMES["Normed"](), torch.rand(5, 3, requires_grad=True)
    state = {name: value.clone() for name, value in module.state_dict().items()}
    drawn = torch.get_rng_state(), np.random.get_state()[1].copy()
    (fix,) = diagnosis("module(x)", module=module, x=x).fixes
    assert fix.code == "h = torch.where(self.limit is not None and h.sum() > self.limit, -h, h)"
    assert all(torch.equal(value, state[name]) for name, value in module.state_dict().items())
    assert (module.calls, NAMES["SEEN"], x.grad) == (0, [], None)
    assert all(each.grad is None for each in module.parameters())
    assert torch.equal(torch.get_rng_state(), drawn[0])
    assert (np.random.get_state()[1] == drawn[1]).all()
    assert capsys.readouterr().out == ""


def made(function: Any, x: Any, *, has_values: bool = True) -> EagerCall:
    return EagerCall(Call("f(x)", function, (x,), {}, ("x",)), has_values=has_values)


def test_what_is_compared_is_known() -> None:
    module, batch = NAMES["Normed"](), torch.rand(5, 3)
    (found,) = made(module, batch).result or ()
    assert torch.equal(found, torch.nn.functional.batch_norm(batch, None, None, training=True))
    module.limit = None
    assert made(module, batch).agrees() is True
    module.norm.register_forward_hook(lambda _, __, h: h * len(str(h)))
    assert made(module, batch).agrees() is made(NAMES["spelled"], X).agrees() is False


def test_what_draws_acts_or_is_large_is_traced_alone() -> None:
    elsewhere = NAMES["text_elsewhere"]
    for name, x in (("dropped", X), ("writing", X), ("text_elsewhere", torch.ones(2**20 + 1))):
        assert made(NAMES[name], x).result is None
    assert made(elsewhere, X, has_values=False).result is None
    assert diagnosis("dropped(x)").fixes
    assert diagnosis("text_elsewhere", (("float32", (3,)),)).fixes


def test_time_that_is_over_raises_nothing_that_python_would_print(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Key:
        pass

    keys = [Key()]
    values = weakref.WeakKeyDictionary({keys[0]: 1})
    printed: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", printed.append)
    monkeypatch.setattr(eager, "MAX_SECONDS", 0.0)
    assert eager_check._attempt(keys.clear) is None  # type: ignore[arg-type]
    assert not printed
    assert not values
