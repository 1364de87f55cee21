"""``fwbench`` with a training step of PyTorch."""

import pytest

from ipyjaxbench.benchmarks import fixture
from tests.benchmarks.suite import Pytest, suite, work

__all__ = ["suite", "work"]  # fixtures

TRAINING = """
import torch
def make():
    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
    def step(x):
        optimizer.zero_grad()
        loss = layer(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.item()
    return layer, optimizer, step
def test_step(fwbench):
    layer, optimizer, step = make()
    same, its_optimizer, once = make()
    x = torch.ones(2, 3)
    assert fwbench(step, x) == once(x)
    assert torch.equal(layer.weight, same.weight)
    assert torch.equal(layer.weight.grad, same.weight.grad)
    momentum, one = (o.state[p]["momentum_buffer"] for o, p in
                     ((optimizer, layer.weight), (its_optimizer, same.weight)))
    assert torch.equal(momentum, one)
"""


def test_a_training_step_stays_one_step(suite: Pytest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(fixture._BUDGETS, "quick", 0.3)
    done = suite(TRAINING)
    assert done.returncode == 0, done.stdout
