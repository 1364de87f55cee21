"""The JAX adapter, and `%fwtime`'s promises on real JAX code."""

import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax._src.lib import _profiler

import ipyjaxbench
from ipyjaxbench.adapters.jax import Jax, profiler, synchronization
from ipyjaxbench.adapters.jax.compile_events import disjoint
from ipyjaxbench.frameworks import Framework, find_arrays, loaded
from ipyjaxbench.host import GPU_NOT_PROFILED
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
    ["{'k': [late()]}", "holder.value = late()", "put(late())", "late(); None"],
)
@pytest.mark.usefixtures("held", "real_clock")
def test_whatever_the_code_does_with_its_result_it_is_waited_for(code: str) -> None:
    left: list[Any] = []
    names = {"late": late.start_held, "holder": SimpleNamespace(),
             "put": lambda value: left.__setitem__(slice(None), [value])}  # fmt: skip
    result = ipyjaxbench.measure_code(code, names, budget=0.3)
    assert result.floor > 0.5 * late.SECONDS  # asking whether something runs is taken off
    assert result.first_call > 0.5 * late.SECONDS


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


@pytest.mark.parametrize("call", ["fs['k'](p)", "aot(p)"])
def test_a_donated_argument_gets_a_fresh_copy_for_each_call(call: str) -> None:
    step = jax.jit(lambda p: jax.tree.map(lambda a: a + 1, p), donate_argnums=0)
    p = {"w": jnp.zeros(4), "b": [jnp.ones(2)]}
    names = {"fs": {"k": step}, "p": p, "aot": step.lower(p).compile()}
    result = ipyjaxbench.measure_code(f"y = {call}", names, number=2, repeat=3)
    assert "fresh-copies" in codes(result)
    assert len(result.samples) == 3
    assert names["p"] is p
    assert p["w"].is_deleted()
    assert names["y"]["w"].tolist() == [1.0] * 4


def test_inputs_and_outputs_are_placed_and_tracers_are_no_arrays() -> None:
    names = {"f": jax.jit(lambda t, k: t["a"]), "t": {"a": jnp.ones(3), "b": jnp.ones((2, 2))},
             "key": jax.random.key(0)}  # fmt: skip
    result = ipyjaxbench.measure_code("y = f(t, key)", names, number=1, repeat=2)
    assert [p.words() for p in result.inputs] == ["t 2 arrays 28 B cpu:0", "key key<fry>[] cpu:0"]
    assert [p.words() for p in result.outputs] == ["y f32[3] cpu:0"]
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


FRESH = """
import sys, jax, jax.numpy as jnp, ipyjaxbench
from jax._src import xla_bridge

def modules():
    return sum(name.startswith("ipyjaxbench.adapters") for name in sys.modules)

ipyjaxbench.measure_code("1 + 1", {}, budget=0.02)
print(xla_bridge.backends_are_initialized())
code = "y = jnp.ones((300, 300)) @ jnp.ones((300, 300))"
first = ipyjaxbench.measure_code(code, {"jnp": jnp}, number=1, repeat=2)
print(first.compilations > 0, first.waited, list(first.frameworks), modules() <= 25)
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


def names_traced_in(folder: Path) -> set[str]:
    (trace,) = folder.rglob("*.xplane.pb")
    planes = jax.profiler.ProfileData.from_file(str(trace)).planes
    return {event.name for plane in planes for line in plane.lines for event in line.events}


@pytest.mark.parametrize(
    ("code", "total", "each"), [("f(x)", 40, 20), ("f(x); None", 40, 20), ("give(x)", 1, 1)]
)
@pytest.mark.usefixtures("real_clock")
def test_operations_are_those_of_the_compiled_program_and_nothing_else(
    code: str, total: int, each: int
) -> None:
    """No tiny programs that wait for all work, no copies that stand in for donated arguments."""
    names = {"f": PRODUCTS, "x": SQUARE + 0, "give": jax.jit(lambda x: x + 1, donate_argnums=0)}
    found = ipyjaxbench.measure_code(code, names, number=2, repeat=3, profile=True).device
    assert found is not None
    (seen,) = found.passes
    assert (found.reasons, list(seen.devices)) == ({}, ["cpu:0"])
    assert 0 < seen.busy <= seen.worked * 1.001
    counts = [operation.count / seen.calls for operation in seen.operations]
    assert (sum(counts), {*counts}) == (total, {each})  # each product, and its division


def test_a_trace_of_the_users_goes_on_and_is_the_reason_why_nothing_is_told(tmp_path: Path) -> None:
    names = {"f": PRODUCTS, "x": SQUARE}
    jax.profiler.start_trace(str(tmp_path))
    result = ipyjaxbench.measure_code("f(x)", names, number=2, repeat=3, profile=True)
    jax.profiler.stop_trace()
    assert result.device.reasons == {"jax": "another profiler is already running"}
    assert any("PjitFunction" in name for name in names_traced_in(tmp_path))


def test_a_trace_can_be_started_after_one_that_could_not_be_written_and_its_folder_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = _adapter().capability(Profiler).profile
    session = _profiler.ProfilerSession()  # as a server has it while it captures
    found = profile(lambda: None)
    session.stop()
    assert found.reason == "another profiler is already running"
    assert profile(lambda: jax.block_until_ready(SQUARE + 1)).intervals != ()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    seen: list[int] = []
    profile(lambda: seen.append(len(list(tmp_path.iterdir()))))
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


def test_a_gpu_of_which_the_profiler_saw_nothing_has_no_busy_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(profiler, "local_devices", lambda: [SimpleNamespace(platform="gpu")])
    found = _adapter().capability(Profiler).profile(lambda: None)
    assert found.reason.startswith(GPU_NOT_PROFILED)
    assert ("profile JAX first" in found.reason) is ("torch" in sys.modules)


def test_a_profile_holds_nothing_of_python(tmp_path: Path) -> None:
    def recognisable() -> None:
        jax.block_until_ready(SQUARE + 1)

    profiler._start(str(tmp_path))
    recognisable()
    profiler._stop()
    names = names_traced_in(tmp_path)
    assert names
    assert not any("recognisable" in name for name in names)
