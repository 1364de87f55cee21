"""A block that counts traces, and is the first of its process to use torch.compile."""

import subprocess
import sys
from pathlib import Path

import pytest

#: Tests of a user's, each the first of its process.
TESTS = """
import sys
import torch
from torch import nn
from ipyjaxbench.errors import StaleProgramError, TooManyTracesError
import pytest

X = torch.ones(2)

def compiled(function):
    return torch.compile(function, backend="eager")

def double(x):
    return x * 2

@pytest.fixture(autouse=True)
def first():
    assert "torch._dynamo" not in sys.modules
    finders = [*sys.meta_path]
    yield
    assert "torch._dynamo" in sys.modules
    assert sys.meta_path == finders

def test_fixture(max_traces):
    with pytest.raises(TooManyTracesError, match="`double` was traced 1 time, limit 0"):
        with max_traces(0):
            compiled(double)(X)

def test_stale(max_traces):
    net = nn.Sequential(nn.Linear(2, 2))
    block = max_traces(3, stale="error")
    with pytest.raises(StaleProgramError, match=r"net\\[0\\] has hooks"):
        with block:
            f, g = compiled(net), compiled(double)
            g(X), g(X), g(torch.ones(2, 2)), f(X)
            net[0].register_forward_hook(lambda *_: None)
            f(X)
    first, second, _ = block.traces.calls
    assert [(call.name, call.state) for call in (first, second)] == [("double", "TRACED")] * 2
    assert [change.words() for change in second.why] == ["x: f32[2] → f32[2,2] (rank)"]
"""


@pytest.mark.parametrize("name", ["test_fixture", "test_stale"])
def test_what_the_block_compiles_counts(tmp_path: Path, name: str) -> None:
    file = tmp_path / "test_users.py"
    file.write_text(TESTS)
    command = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly")
    done = subprocess.run(
        [sys.executable, *command, f"{file}::{name}"],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert "1 passed" in done.stdout, done.stdout + done.stderr
