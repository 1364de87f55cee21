"""The JAX adapter, and `%fwtime`'s promises on real JAX code."""

import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src.lib import _profiler

import ipyjaxbench
from ipyjaxbench.adapters.jax import Jax, profiler, synchronization
from ipyjaxbench.adapters.jax.compile_events import disjoint
from ipyjaxbench.adapters.jax.synchronization import InFlight
from ipyjaxbench.frameworks import Framework, find_arrays, loaded
from ipyjaxbench.timing.protocol import Profiler
from tests.adapters import late
from tests.adapters.contract import Contract


def _adapter() -> Jax:
    return next(f for f in loaded()[0] if isinstance(f, Jax))


def codes(result: ipyjaxbench.Measurement) -> set[str]:
    return {note.code for note in result.notes}


class TestJax(Contract):
    devices = ("cpu:0",)
    multiplied = ("float32", "bfloat16", "float16", "int8")

    @pytest.fixture
    def framework(self) -> Framework:
        return _adapter()

    @pytest.fixture
    def array(self) -> object:
        return jnp.ones((2, 3), jnp.float32)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Work that is started held goes on until there is a wait for it, however long that takes."""

    def releasing(wait: Callable[[Any], object]) -> Callable[[Any], object]:
        return lambda value: (late.released.set(), wait(value))[1]

    _adapter().prepare()
    monkeypatch.setattr(jax, "block_until_ready", releasing(jax.block_until_ready))
    monkeypatch.setattr(synchronization, "_one_array", releasing(synchronization._one_array))
    yield
    late.released.set()


@pytest.mark.parametrize(
    "code",
    ["late()", "{'k': [late()]}", "holder.value = late()", "box(value=late())", "put(late())",
     "late(); None", "for _ in range(1): y = late()", "np.asarray(soon())"],
)  # fmt: skip
@pytest.mark.usefixtures("held", "real_clock")
def test_whatever_the_code_does_with_its_result_it_is_waited_for(code: str) -> None:
    left: list[Any] = []
    names = {"late": late.start_held, "soon": late.start, "np": np, "holder": SimpleNamespace(),
             "box": SimpleNamespace,
             "put": lambda value: left.__setitem__(slice(None), [value])}  # fmt: skip
    result = ipyjaxbench.measure_code(code, names, budget=0.3)
    assert result.floor > 0.5 * late.SECONDS  # asking whether something runs is taken off
    assert result.first_call > 0.5 * late.SECONDS


@pytest.mark.usefixtures("held", "real_clock")
def test_work_of_earlier_cells_is_waited_for_and_told() -> None:
    before = len(late.ended)
    late.start_held(), late.start_held(), late.start_held()
    names = {"look": lambda: len(late.ended) - before}
    result = ipyjaxbench.measure_code("seen = look()", names, number=2, repeat=2)
    assert "earlier-work" in codes(result)
    assert names["seen"] == 3  # in the first call


@pytest.mark.usefixtures("held")
def test_without_a_clock_it_is_told_whether_something_runs() -> None:
    adapter = _adapter()
    for _ in range(3):
        late.start().block_until_ready()
        assert adapter.is_running() is False
        late.start_held()
        assert adapter.is_running() is True


@pytest.mark.usefixtures("held", "real_clock")
def test_what_another_thread_left_running_is_found_where_it_is_held() -> None:
    held: list[Any] = []

    def run() -> None:
        thread = threading.Thread(target=lambda: held.append(late.start_held()))
        thread.start()
        thread.join()
        del held[:-1]

    result = ipyjaxbench.measure_code("run()", {"run": run}, budget=0.5)
    assert "elsewhere" in codes(result)
    assert result.floor > 0.5 * late.SECONDS


@pytest.mark.usefixtures("real_clock")
def test_the_first_call_is_split_and_the_parts_add_up() -> None:
    names = {"f": jax.jit(lambda x: jnp.tanh(x @ x).sum()), "x": jnp.ones((64, 64))}
    result = ipyjaxbench.measure_code("f(x)", names, budget=0.1)
    assert list(result.phases) == ["trace", "lower", "compile"]
    assert all(seconds > 0 for seconds in result.phases.values())
    assert sum(result.phases.values()) < result.first_call
    assert result.compilations == 1


def test_a_donated_name_that_is_bound_again_is_put_back() -> None:
    step = partial(jax.jit, donate_argnums=0)(lambda p, o: (p + 1, o + 1))
    names = {"step": step, "params": jnp.zeros(4), "opt": jnp.zeros(4)}
    result = ipyjaxbench.measure_code("params, opt = step(params, opt)", names, number=3, repeat=2)
    assert names["params"].tolist() == names["opt"].tolist() == [1.0] * 4
    (note,) = [note for note in result.notes if note.code == "put-back"]
    assert note.text.startswith(
        "Restored to the state after the first call: params (the copies took"
    )


def test_without_restoring_a_donated_name_keeps_its_newest_value() -> None:
    step = partial(jax.jit, donate_argnums=0)(lambda p, o: (p + 1, o + 1))
    names = {"step": step, "params": jnp.zeros(4), "opt": jnp.zeros(4)}
    code = "params, opt = step(params, opt)"
    result = ipyjaxbench.measure_code(code, names, number=3, repeat=2, restore=False)
    assert names["params"].tolist() == [6.0] * 4
    assert names["opt"].tolist() == [1.0] * 4
    (note,) = [note for note in result.notes if note.code == "state-advanced"]
    assert note.text.startswith("'params' advanced by 6 calls")


class Trainer:
    def __init__(self) -> None:
        self.step = jax.jit(lambda p: jax.tree.map(lambda a: a + 1, p), donate_argnums=0)

    def go(self, p: Any) -> Any:
        return self.step(p)


@pytest.mark.parametrize("call", ["step(p)", "t.go(p)", "fs['k'](p)", "aot(p)"])
def test_a_donated_argument_gets_a_fresh_copy_for_each_call(call: str) -> None:
    trainer, p = Trainer(), {"w": jnp.zeros(4), "b": [jnp.ones(2)]}
    names = {"t": trainer, "step": trainer.step, "fs": {"k": trainer.step}, "p": p,
             "aot": trainer.step.lower(p).compile()}  # fmt: skip
    result = ipyjaxbench.measure_code(f"y = {call}", names, number=2, repeat=3)
    assert "fresh-copies" in codes(result)
    assert len(result.samples) == 3
    assert names["p"] is p
    assert p["w"].is_deleted()
    assert names["y"]["w"].tolist() == [1.0] * 4


def test_a_donated_argument_out_of_reach_makes_a_single_run() -> None:
    step = partial(jax.jit, donate_argnums=0)(lambda p: p + 1)
    holder = SimpleNamespace(params=jnp.zeros(4))
    names = {"run": lambda: step(holder.params)}
    result = ipyjaxbench.measure_code("y = run()", names)
    assert result.verdict == "ONCE"
    assert codes(result) == {"runs-once"}
    assert names["y"].tolist() == [1.0] * 4


def test_inputs_and_outputs_are_placed_and_tracers_are_no_arrays() -> None:
    names = {"f": jax.jit(lambda t, k: t["a"]), "t": {"a": jnp.ones(3), "b": jnp.ones((2, 2))},
             "key": jax.random.key(0)}  # fmt: skip
    result = ipyjaxbench.measure_code("y = f(t, key)", names, budget=0.05)
    assert [p.words() for p in result.inputs] == ["t 2 arrays 28 B cpu:0", "key key<fry>[] cpu:0"]
    assert [p.words() for p in result.outputs] == ["y f32[3] cpu:0"]
    assert result.frameworks == {"jax": jax.__version__}
    seen: list[int] = []
    jax.jit(lambda x: (seen.append(len(find_arrays(x, [_adapter()]))), x)[1])(1.0)
    assert seen == [0]


def test_listeners_are_as_before_and_moments_belong_to_the_innermost_phase() -> None:
    from jax._src import monitoring

    before = list(monitoring.get_event_duration_listeners())
    ipyjaxbench.measure_code("f(x)", {"f": jax.jit(lambda x: x), "x": jnp.ones(2)}, budget=0.02)
    with pytest.raises(ZeroDivisionError):
        ipyjaxbench.measure_code("f(x); 1 / 0", {"f": jnp.sin, "x": jnp.ones(2)})
    assert list(monitoring.get_event_duration_listeners()) == before
    spans = [(0.0, 10.0, "trace"), (2.0, 5.0, "compile"), (4.0, 6.0, "lower"), (8.0, 9.0, "trace")]
    assert disjoint(spans) == {"trace": 6.0, "lower": 1.0, "compile": 3.0, "cache load": 0.0}


def test_small_work_in_a_plain_object_is_waited_for_without_asking_devices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Box:
        def __init__(self, value: Any) -> None:
            self.value = value

    waits: list[int] = []

    def wait(self: InFlight, wait: Any = InFlight.wait) -> None:
        waits.append(1)
        wait(self)

    monkeypatch.setattr(InFlight, "wait", wait)
    names = {"f": jax.jit(lambda x: x + 1), "x": jnp.ones(8), "Box": Box}
    result = ipyjaxbench.measure_code("Box(f(x))", names, number=1, repeat=200)
    assert "elsewhere" not in codes(result)
    assert len(waits) < 100


FRESH = """
import sys, jax, jax.numpy as jnp, ipyjaxbench
from jax._src import xla_bridge

def modules():
    return sum(name.startswith("ipyjaxbench.adapters") for name in sys.modules)

ipyjaxbench.measure_code("1 + 1", {}, budget=0.02)
print(xla_bridge.backends_are_initialized())
code = "y = jnp.ones((300, 300)) @ jnp.ones((300, 300))"
first = ipyjaxbench.measure_code(code, {"jnp": jnp}, number=1, repeat=2)
print(first.compilations > 0, first.waited, list(first.frameworks), modules() <= 22)
names = {"f": jax.jit(lambda x: jnp.sin(x) @ x), "x": jnp.ones((64, 64))}
with jax.disable_jit():
    print(ipyjaxbench.measure_code("f(x)", names, number=1, repeat=2).waited)
found = ipyjaxbench.measure_code("f(x)", names, number=2, repeat=3, profile=True).device
print(found.reasons, [seen.framework for seen in found.passes])
"""


def test_in_a_fresh_process_the_first_timings_start_import_and_warn_of_little() -> None:
    """jaxlib warns when its types are made, which is when the first profile is read."""
    command = [sys.executable, "-W", "error", "-c", FRESH]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        "False", "True True ['jax'] True", "True", "{} ['jax']",
    ], done.stderr[-2000:]  # fmt: skip


# The profiled pass

SQUARE = jnp.ones((100, 100))


def repeated(x: Any) -> Any:
    for _ in range(20):
        x = x @ x / 100
    return x


PRODUCTS = jax.jit(repeated)
SCAN = jax.jit(lambda x: jax.lax.scan(lambda c, _: (jnp.tanh(c @ x), None), x, None, 10)[0])


@pytest.mark.parametrize("function", [SCAN, lambda x: (SCAN(x), jnp.sin(x) @ x + 1)])
@pytest.mark.usefixtures("real_clock")
def test_the_cpu_is_busy_in_a_call_and_never_for_longer(function: Any) -> None:
    names = {"f": function, "x": SQUARE}
    found = ipyjaxbench.measure_code("f(x)", names, number=2, repeat=3, profile=True).device
    assert found is not None
    assert found.reasons == {}
    (seen,) = found.passes
    assert list(seen.devices) == ["cpu:0"]
    assert 0 < seen.busy <= seen.elapsed
    assert seen.busy <= seen.worked * 1.001


@pytest.mark.parametrize(
    ("code", "total", "each"), [("f(x)", 40, 20), ("f(x); None", 40, 20), ("give(x)", 1, 1)]
)
def test_operations_are_those_of_the_compiled_program_and_nothing_else(
    code: str, total: int, each: int
) -> None:
    """No tiny programs that wait for all work, no copies that stand in for donated arguments."""
    names = {"f": PRODUCTS, "x": SQUARE + 0, "give": jax.jit(lambda x: x + 1, donate_argnums=0)}
    found = ipyjaxbench.measure_code(code, names, number=2, repeat=3, profile=True).device
    assert found is not None
    (seen,) = found.passes
    counts = [operation.count / seen.calls for operation in seen.operations]
    assert (sum(counts), {*counts}) == (total, {each})  # each product, and its division


def test_a_trace_of_the_users_goes_on_and_is_the_reason_why_nothing_is_told(tmp_path: Path) -> None:
    names = {"f": PRODUCTS, "x": SQUARE}
    jax.profiler.start_trace(str(tmp_path))
    result = ipyjaxbench.measure_code("f(x)", names, number=2, repeat=3, profile=True)
    jax.profiler.stop_trace()
    assert result.device.reasons == {"jax": "another profiler is already running"}
    (trace,) = tmp_path.rglob("*.xplane.pb")
    planes = jax.profiler.ProfileData.from_file(str(trace)).planes
    names_seen = {event.name for plane in planes for line in plane.lines for event in line.events}
    assert any("PjitFunction" in name for name in names_seen)


def test_a_trace_can_be_started_after_one_that_could_not_be_written_and_its_folder_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = _profiler.ProfilerSession()  # as a server has it while it captures
    found = _adapter().capability(Profiler).profile(lambda: None)
    session.stop()
    assert found.reason == "another profiler is already running"
    assert (
        _adapter().capability(Profiler).profile(lambda: jax.block_until_ready(SQUARE + 1)).intervals
        != ()
    )
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    seen: list[int] = []
    _adapter().capability(Profiler).profile(lambda: seen.append(len(list(tmp_path.iterdir()))))
    assert seen == [1]
    assert list(tmp_path.iterdir()) == []


def test_a_version_that_cannot_profile_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(jax.profiler, "ProfileData", None)
        result = ipyjaxbench.measure_code("x + 1", {"x": SQUARE}, number=2, repeat=2, profile=True)
    told = "unknown for jax: this version cannot read profiles (jax 0.10 can)"
    assert told in " ".join(str(result).split())
    monkeypatch.delattr(jax.profiler, "ProfileOptions")
    profile = _adapter().capability(Profiler).profile(lambda: None)
    assert "ProfileOptions" in profile.reason
    assert not profile.intervals


def test_a_profile_holds_nothing_of_python(tmp_path: Path) -> None:
    def recognisable() -> None:
        jax.block_until_ready(SQUARE + 1)

    profiler._start(str(tmp_path))
    recognisable()
    profiler._stop()
    (trace,) = tmp_path.rglob("*.xplane.pb")
    planes = jax.profiler.ProfileData.from_file(str(trace)).planes
    names = {event.name for plane in planes for line in plane.lines for event in line.events}
    assert names
    assert not any("recognisable" in name for name in names)
