"""What is the first of its process to use torch.compile, or to load what traces graphs."""

import subprocess
import sys
from pathlib import Path

#: Tests of a user's, each the first of its process: PyTorch is imported once, for all.
TESTS = """
import functools
import os
import sys
import traceback
import warnings
import torch
from torch import nn
from ipyjaxbench.adapters.torch import Torch
from ipyjaxbench.adapters.torch.graphs import isolation
from ipyjaxbench.errors import StaleProgramError, TooManyTracesError
from ipyjaxbench.graphs import GraphTracer
import pytest

X = torch.ones(2)

def compiled(function):
    return torch.compile(function, backend="eager")

def double(x):
    return x * 2

def first(test):
    @functools.wraps(test)
    def in_a_process(max_traces):
        child = os.fork()
        if not child:
            try:
                assert "torch._dynamo" not in sys.modules
                finders = [*sys.meta_path]
                test(max_traces)
                assert "torch._dynamo" in sys.modules
                assert sys.meta_path == finders
            except BaseException:
                os.write(2, traceback.format_exc().encode())
                os._exit(1)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return in_a_process

@first
def test_fixture(max_traces):
    with pytest.raises(TooManyTracesError, match="`double` was traced 1 time, limit 0"):
        with max_traces(0):
            compiled(double)(X)

@first
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

@first
def test_loading_the_tracer_changes_no_settings_and_never_aborts(max_traces):
    isolation.find_spec = lambda name: object()
    before = dict(os.environ), [*warnings.filters]
    sys.modules["tensorflow"] = sys
    for is_loaded in (False, True):
        Torch().capability(GraphTracer).load()
        assert (dict(os.environ), [*warnings.filters]) == before
        assert ("torch._dynamo" in sys.modules) == is_loaded
        sys.modules.pop("tensorflow", None)
"""


def test_what_the_block_compiles_counts(tmp_path: Path) -> None:
    file = tmp_path / "test_users.py"
    file.write_text(TESTS)
    command = ("-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "-p", "no:randomly")
    done = subprocess.run(
        [sys.executable, *command, str(file)],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert "3 passed" in done.stdout, done.stdout + done.stderr
