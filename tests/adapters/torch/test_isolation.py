"""What a look must not change of PyTorch's surroundings, and where it must not happen at all."""

import logging
import os
import subprocess
import sys
import warnings
from contextlib import nullcontext
from types import ModuleType

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded

from ipyjaxbench.adapters.torch.graphs import isolation
from ipyjaxbench.errors import SnippetError
from ipyjaxbench.usercode import Call

TABLE = torch.ones(2)


@pytest.mark.parametrize(
    ("loaded", "is_installed", "is_refused"),
    [(["tensorflow"], True, True), (["tensorflow"], False, False),
     (["tensorflow", "triton"], True, False), ([], True, False)],
)  # fmt: skip
def test_a_look_is_refused_where_importing_triton_would_abort(
    loaded: list[str], is_installed: bool, is_refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("tensorflow", "triton"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    for name in loaded:
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setattr(isolation, "find_spec", lambda _: object() if is_installed else None)
    refused = pytest.raises(SnippetError, match="import triton before tensorflow")
    with refused if is_refused else nullcontext():
        isolation._refuse_after_tensorflow()


def test_settings_are_put_back_and_pytorch_logs_and_warns_of_nothing_meanwhile() -> None:
    theirs, off = logging.getLogger("torch.of_tests"), logging.getLogger("torch.off_in_tests")
    mine, off.disabled, drawn = logging.getLogger("of_tests.torch"), True, torch.get_rng_state()
    with isolation.keep_settings():
        made = logging.getLogger("torch.made_in_tests")
        assert (theirs.disabled, off.disabled, mine.disabled) == (True, True, False)
        os.environ["OF_THESE_TESTS"] = "1"
        torch.rand(2)
        warnings.warn("not shown", stacklevel=1)
        assert torch._dynamo.eval_frame._stance.stance == "force_eager"
    assert (theirs.disabled, off.disabled, made.disabled) == (False, True, False)
    off.disabled = False
    assert "OF_THESE_TESTS" not in os.environ
    assert torch.equal(torch.get_rng_state(), drawn)
    assert torch._dynamo.eval_frame._stance.stance == "default"


def test_a_call_without_tensors_is_pytorchs_where_it_calls_or_names_some() -> None:
    assert isolation.is_torchs(Call("f()", lambda: TABLE + 1))
    assert isolation.is_torchs(Call("f()", lambda: torch.ones(3)))
    assert isolation.is_torchs(Call("f()", torch.ones, (3,), {}, ("size",)))
    assert isolation.is_torchs(Call("f(x)", print, (torch.float32,), {}, ("x",)))
    assert not isolation.is_torchs(Call("f(x)", len, ([1],), {}, ("obj",)))


LOADED = """
import os, sys, warnings
import torch
from ipyjaxbench.adapters.torch import Torch
from ipyjaxbench.adapters.torch.graphs import isolation
from ipyjaxbench.graphs import GraphTracer
isolation.find_spec = lambda name: object()
before = dict(os.environ), list(warnings.filters)
sys.modules["tensorflow"] = sys
for _ in range(2):
    Torch().capability(GraphTracer).load()
    print((dict(os.environ), list(warnings.filters)) == before, "torch._dynamo" in sys.modules)
    sys.modules.pop("tensorflow", None)
"""


def test_loading_the_tracer_changes_no_settings_and_never_aborts() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stdout.split() == ["True", "False", "True", "True"], done.stderr
