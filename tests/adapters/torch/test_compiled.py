"""torch.compile's first call explained, and a cold call that leaves the user's caches alone."""

import functools
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded
from torch._dynamo.eval_frame import _debug_get_cache_entry_list
from torch._dynamo.utils import get_compilation_metrics

import ipyjaxbench
from ipyjaxbench.adapters.torch import Torch
from ipyjaxbench.adapters.torch.compilation import cold_call, original
from ipyjaxbench.frameworks import Compilation
from ipyjaxbench.frameworks.compilation import Program


def entries(function: Any) -> int:
    return len(_debug_get_cache_entry_list(function.__code__))


def step(x: torch.Tensor) -> torch.Tensor:
    return torch.sin(x @ x).sum()


@pytest.fixture(autouse=True)
def _nothing_compiled() -> None:
    torch._dynamo.reset()


@pytest.mark.usefixtures("real_clock")
def test_compiled_frames_are_named_and_split() -> None:
    f = torch.compile(step, backend="aot_eager")
    result = ipyjaxbench.measure_code("f(x)", {"f": f, "x": torch.ones(6, 6)}, budget=0.05)
    assert list(result.phases) == ["trace", "compile"]
    assert sum(s or 0.0 for s in result.phases.values()) < result.first_call
    seconds = result.phases["compile"]
    assert result.programs == (Program("step", seconds, "compiled", "torch"),)


@pytest.mark.parametrize("kind", ["function", "module"])
def test_a_cold_call_compiles_anew_and_leaves_what_was_compiled(kind: str) -> None:
    net = torch.nn.Linear(6, 6)
    of: Any = step if kind == "function" else net
    f = torch.compile(of, backend="eager", dynamic=False)
    x = torch.ones(6, 6)
    names = {"f": f, "x": x}
    f(x)
    before = entries(step)
    result = ipyjaxbench.measure_code("f(x)", names, budget=0.05, fresh=True)
    assert result.compilations == 0
    assert result.fresh is not None
    assert result.fresh.cleared == ()
    assert [p.name for p in result.fresh.programs] == ["step" if kind == "function" else "Linear"]
    assert names["f"] is f
    assert entries(step) == before
    known = len(get_compilation_metrics())
    f(x)
    assert len(get_compilation_metrics()) == known


def in_place() -> torch.nn.Module:
    net = torch.nn.Linear(3, 3)
    net.compile(backend="eager")
    net(torch.ones(3, 3))
    return net


@pytest.mark.parametrize(
    ("make", "code", "name"),
    [(lambda: SimpleNamespace(step=torch.compile(step, backend="eager")), "t.step(x)", "step"),
     (in_place, "t(x)", "t")],
)  # fmt: skip
def test_what_no_name_holds_or_was_compiled_in_place_stays_so_and_is_told(
    make: Any, code: str, name: str
) -> None:
    names = {"t": make(), "x": torch.ones(3, 3)}
    fresh = ipyjaxbench.measure_code(code, names, budget=0.02, fresh=True).fresh
    assert fresh is not None
    assert fresh.seconds is None
    assert fresh.cleared == (f"{name} stayed compiled", "nothing was recompiled")


def test_what_stands_in_for_a_function_in_a_cold_call_gives_the_same() -> None:
    def scaled(x: Any, by: float = 2.0, *, plus: float = 1.0) -> Any:
        return x * by + plus

    scaled.unit = "m"  # type: ignore[attr-defined]
    net, x = torch.nn.Linear(3, 3), torch.ones(2, 3)
    named = {"f": torch.compile(scaled, backend="eager"), "n": torch.compile(net, backend="eager")}
    original_of = Torch().capability(Compilation).original
    assert [*map(original_of, (*named.values(), scaled))] == [scaled, net, None]
    with cold_call(named, []) as cold:
        f, n = (cold.stand_ins[name] for name in named)
        assert torch.equal(f(x), torch.full((2, 3), 3.0))
        assert torch.equal(n(x), net(x))
        assert original(f).unit == "m"
        assert list(cold.caveats) == []


def test_a_function_of_the_users_around_a_compiled_one_stays_as_it_is_and_is_told() -> None:
    class Counter:
        def __call__(self) -> None:
            """It can be called too, and compiles nothing."""

        def count(self, function: Any) -> Any:
            return functools.wraps(function)(lambda *args: (self, function(*args))[1])

    counted = Counter().count(torch.compile(step, backend="eager"))
    with cold_call({"f": counted}, []) as cold:
        assert dict(cold.stand_ins) == {}
        assert list(cold.caveats) == ["f stayed compiled"]
