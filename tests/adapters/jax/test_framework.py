"""The JAX adapter, and `%fwtime`'s promises on real JAX code."""

import subprocess
import sys
import tempfile
import threading
import time
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
from ipyjaxbench.host.clock import Clock
from ipyjaxbench.timing.protocol import Profiler
from ipyjaxbench.timing.synchronize import Drain
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
    [
        "late()",
        "y = late()",
        "a, b = 1, late()",
        "{'k': [late()]}",
        "holder.value = late()",
        "box(value=late())",
        "d['y'] = late()",
        "put(late())",
        "late(); None",
        "late(); other = 1",
        "for _ in range(1): y = late()",
        "soon().block_until_ready()",
        "np.asarray(soon())",
    ],
)
@pytest.mark.usefixtures("held")
@pytest.mark.usefixtures("real_clock")
def test_whatever_the_code_does_with_its_result_it_is_waited_for(code: str) -> None:
    left: list[Any] = []
    names = {
        "late": late.start_held,
        "soon": late.start,
        "np": np,
        "holder": SimpleNamespace(),
        "box": SimpleNamespace,
        "d": {},
        "put": lambda value: left.__setitem__(slice(None), [value]),
    }
    result = ipyjaxbench.measure_code(code, names, budget=0.3)
    assert result.floor > 0.5 * late.SECONDS  # asking whether something runs is taken off
    assert result.first_call > 0.5 * late.SECONDS


@pytest.mark.usefixtures("real_clock")
def test_effects_that_no_value_shows_are_waited_for() -> None:
    @jax.jit
    def called(x: Any) -> Any:
        jax.debug.callback(lambda _: time.sleep(0.02), x[0])
        return x + 1

    names = {"called": called, "x": jnp.ones(3)}
    result = ipyjaxbench.measure_code("called(x)", names, budget=0.3)
    assert result.floor >= 0.02


@pytest.mark.usefixtures("held")
@pytest.mark.usefixtures("real_clock")
def test_work_of_earlier_cells_is_waited_for_and_told() -> None:
    before = len(late.ended)
    late.start_held(), late.start_held(), late.start_held()
    names = {"look": lambda: len(late.ended) - before}
    result = ipyjaxbench.measure_code("seen = look()", names, number=2, repeat=2)
    assert "earlier-work" in codes(result)
    assert names["seen"] == 3  # in the first call


@pytest.mark.usefixtures("held")
def test_a_drain_waits_for_results_that_were_dropped() -> None:
    drain = Drain([_adapter()], Clock.elapsed())
    before = len(late.ended)
    for _ in range(3):
        late.start_held()
    assert drain() >= late.SECONDS * 1e9
    assert len(late.ended) == before + 3


@pytest.mark.usefixtures("held")
def test_without_a_clock_it_is_told_whether_something_runs() -> None:
    adapter = _adapter()
    for _ in range(20):
        late.start().block_until_ready()
        assert adapter.is_running() is False
        late.start_held()
        assert adapter.is_running() is True


@pytest.mark.usefixtures("held")
@pytest.mark.usefixtures("real_clock")
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


def test_what_a_function_imports_when_it_is_called_is_waited_for() -> None:
    code = (
        "import ipyjaxbench, jax, sys, time\n"
        "def run():\n"
        "    import jax.numpy as jnp\n"
        "    x = jnp.ones((500, 500))\n"
        "    y = [x @ x for _ in range(5)]\n"
        "run(); time.sleep(0.2)\n"
        "r = ipyjaxbench.measure_code('run()', {'run': run}, budget=0.5)\n"
        "print('elsewhere' in [n.code for n in r.notes])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


@pytest.mark.parametrize("options", [{"budget": 0.5}, {"number": 5, "repeat": 5}])
def test_a_step_that_is_given_its_own_results_away_goes_on(options: dict[str, Any]) -> None:
    @partial(jax.jit, donate_argnums=(0, 1))
    def train(params: Any, state: Any, x: Any) -> Any:
        return jax.tree.map(lambda p: p * 0.99 + x.sum(), params), state + 1, x.sum()

    names = {"train": train, "params": {"w": jnp.ones((64, 64))}, "state": jnp.zeros(4)}
    names["x"] = jnp.ones(8)
    result = ipyjaxbench.measure_code(
        "params, state, loss = train(params, state, x)", names, **options
    )
    assert "stopped-by-error" not in codes(result)
    assert "runs-once" not in codes(result)
    assert result.batches


def test_nothing_said_of_waiting_where_the_user_waits() -> None:
    names = {"f": jax.jit(lambda x: x + 1), "x": jnp.ones(8)}
    result = ipyjaxbench.measure_code("f(x).block_until_ready()", names, budget=0.1)
    assert "unsynchronised" not in codes(result)
    assert "elsewhere" not in codes(result)


@pytest.mark.usefixtures("real_clock")
def test_the_first_call_is_split_and_the_parts_add_up() -> None:
    names = {"f": jax.jit(lambda x: jnp.tanh(x @ x).sum()), "x": jnp.ones((64, 64))}
    result = ipyjaxbench.measure_code("f(x)", names, budget=0.1)
    assert list(result.phases) == ["trace", "lower", "compile"]
    assert all(seconds > 0 for seconds in result.phases.values())
    assert sum(result.phases.values()) < result.first_call
    assert result.compilations == 1


@pytest.mark.usefixtures("real_clock")
def test_nested_jits_are_not_counted_twice() -> None:
    inner = jax.jit(lambda x: jnp.sin(x) * 2)
    names = {"f": jax.jit(lambda x: inner(inner(x)) + inner(x[:3]).sum()), "x": jnp.ones(9)}
    result = ipyjaxbench.measure_code("f(x)", names, budget=0.05)
    assert sum(result.phases.values()) <= result.first_call


def test_already_compiled_is_said() -> None:
    f = jax.jit(lambda x: x * 3)
    f(jnp.ones(3))
    result = ipyjaxbench.measure_code("f(x)", {"f": f, "x": jnp.ones(3)}, budget=0.05)
    assert result.compilations == 0
    assert "already compiled" in str(result)


def test_compiling_in_every_call_is_no_steady_state() -> None:
    names = {"jax": jax, "x": jnp.ones(3)}
    result = ipyjaxbench.measure_code("jax.jit(lambda a: a + 1)(x)", names, budget=0.2)
    assert result.verdict == "RECOMPILES"


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


def test_without_donation_the_state_is_that_after_one_call() -> None:
    step = jax.jit(lambda p, o: (p + 1, o + 1))
    names = {"step": step, "params": jnp.zeros(4), "opt": jnp.zeros(4)}
    result = ipyjaxbench.measure_code("params, opt = step(params, opt)", names, number=3, repeat=2)
    assert names["params"].tolist() == names["opt"].tolist() == [1.0] * 4
    assert "state-advanced" not in codes(result)


@pytest.mark.parametrize("code", ["y = step(tree)", "y = trainer.step(tree)"])
def test_a_donated_argument_gets_a_fresh_copy_for_each_call(code: str) -> None:
    step = partial(jax.jit, donate_argnums=0)(lambda t: jax.tree.map(lambda a: a + 1, t))
    tree = {"w": jnp.zeros(4), "b": [jnp.ones(2)]}
    names = {"step": step, "trainer": SimpleNamespace(step=step), "tree": tree}
    result = ipyjaxbench.measure_code(code, names, number=2, repeat=3)
    assert "fresh-copies" in codes(result)
    assert len(result.samples) == 3
    assert names["tree"] is tree
    assert tree["w"].is_deleted()
    assert names["y"]["w"].tolist() == [1.0] * 4


def test_a_donated_argument_out_of_reach_makes_a_single_run() -> None:
    step = partial(jax.jit, donate_argnums=0)(lambda p: p + 1)
    holder = SimpleNamespace(params=jnp.zeros(4))
    names = {"run": lambda: step(holder.params)}
    result = ipyjaxbench.measure_code("y = run()", names)
    assert result.verdict == "ONCE"
    assert codes(result) == {"runs-once"}
    assert names["y"].tolist() == [1.0] * 4


def test_a_deleted_array_is_the_users_own_error() -> None:
    names = {"x": jnp.ones(5), "y": 3}
    names["x"].delete()
    with pytest.raises(RuntimeError, match="deleted"):
        ipyjaxbench.measure_code("y = x + 1", names)
    assert names["y"] == 3


def test_inputs_and_outputs_are_placed() -> None:
    names = {"f": jax.jit(lambda t, k: t["a"]), "t": {"a": jnp.ones(3), "b": jnp.ones((2, 2))},
             "key": jax.random.key(0)}  # fmt: skip
    result = ipyjaxbench.measure_code("y = f(t, key)", names, budget=0.05)
    assert [p.words() for p in result.inputs] == ["t 2 arrays 28 B cpu:0", "key key<fry>[] cpu:0"]
    assert [p.words() for p in result.outputs] == ["y f32[3] cpu:0"]
    assert result.frameworks == {"jax": jax.__version__}


def test_a_copy_to_numpy_is_told_with_its_bytes() -> None:
    names = {"np": np, "f": jax.jit(lambda x: x + 1), "x": jnp.ones(256)}
    result = ipyjaxbench.measure_code("np.array(f(x))", names, budget=0.05)
    (note,) = [note for note in result.notes if note.code == "copies"]
    assert note.text == "In every call, the result is copied to the host from jax cpu:0 (1.00 KiB)."


def test_tracers_are_not_arrays() -> None:
    seen: list[int] = []
    jax.jit(lambda x: (seen.append(len(find_arrays(x, [_adapter()]))), x)[1])(1.0)
    assert seen == [0]


def test_listeners_are_as_before() -> None:
    from jax._src import monitoring

    before = list(monitoring.get_event_duration_listeners())
    ipyjaxbench.measure_code("f(x)", {"f": jax.jit(lambda x: x), "x": jnp.ones(2)}, budget=0.02)
    with pytest.raises(ZeroDivisionError):
        ipyjaxbench.measure_code("f(x); 1 / 0", {"f": jnp.sin, "x": jnp.ones(2)})
    assert list(monitoring.get_event_duration_listeners()) == before


def test_the_users_compile_cache_is_kept() -> None:
    traces: list[int] = []
    f = jax.jit(lambda x: (traces.append(1), x + 1)[1])
    ipyjaxbench.measure_code("f(x)", {"f": f, "x": jnp.ones(7)}, budget=0.02)
    f(jnp.ones(7))
    assert traces == [1]


def test_ten_thousand_arrays_are_answered() -> None:
    names = {"jax": jax, "many": [jax.device_put(np.float32(0)) for _ in range(10_000)]}
    result = ipyjaxbench.measure_code("jax.tree.map(lambda a: a, many)", names, number=1, repeat=2)
    assert result.outputs[0].arrays == 10_000


def test_other_threads_may_run_jax_meanwhile() -> None:
    f, x, stop = jax.jit(lambda x: x @ x), jnp.ones((64, 64)), threading.Event()

    def work() -> None:
        while not stop.is_set():
            f(x).block_until_ready()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert ipyjaxbench.measure_code("f(x)", {"f": f, "x": x}, budget=0.1).median > 0
    finally:
        stop.set()
        thread.join()


def test_a_backend_is_not_initialised_by_looking() -> None:
    code = (
        "import jax, ipyjaxbench\n"
        "print(ipyjaxbench.measure_code('1 + 1', {}, budget=0.02).frameworks)\n"
        "from jax._src import xla_bridge\n"
        "print(xla_bridge.backends_are_initialized())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == "False"


def test_the_first_use_of_jax_in_the_process_is_waited_for() -> None:
    code = (
        "import jax, jax.numpy as jnp, ipyjaxbench\n"
        "r = ipyjaxbench.measure_code('y = jnp.ones((300, 300)) @ jnp.ones((300, 300))',"
        " dict(jnp=jnp), budget=0.1)\n"
        "print(r.compilations > 0, r.waited, list(r.frameworks))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True True ['jax']"


def test_all_virtual_devices_are_waited_for() -> None:
    code = (
        "import os\n"
        "os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=4'\n"
        "import jax, jax.numpy as jnp, ipyjaxbench\n"
        "from jax.sharding import Mesh, NamedSharding, PartitionSpec as P\n"
        "mesh = Mesh(jax.devices(), ('d',))\n"
        "x = jax.device_put(jnp.ones((64, 8)), NamedSharding(mesh, P('d')))\n"
        "r = ipyjaxbench.measure_code('f(x)', dict(f=jax.jit(lambda x: x * 2), x=x), budget=0.1)\n"
        "print(r.outputs[0].words())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "f32[64,8] cpu:0 … cpu:3 (4 devices)"


def test_a_moment_belongs_to_the_innermost_phase() -> None:
    spans = [(0.0, 10.0, "trace"), (2.0, 5.0, "compile"), (4.0, 6.0, "lower"), (8.0, 9.0, "trace")]
    assert disjoint(spans) == {"trace": 6.0, "lower": 1.0, "compile": 3.0, "cache load": 0.0}


class Trainer:
    def __init__(self) -> None:
        self.step = jax.jit(lambda p: p + 1, donate_argnums=0)

    def go(self, p: Any) -> Any:
        return self.step(p)


@pytest.mark.parametrize("code", ["t.go(p)", "fs['k'](p)", "jax.jit(inner)(p); t.go(p)", "aot(p)"])
def test_donation_is_found_through_objects_containers_and_compiled_programs(code: str) -> None:
    trainer, p = Trainer(), jnp.zeros(4)
    names = {"t": trainer, "fs": {"k": trainer.step}, "p": p, "jax": jax, "inner": jnp.sin,
             "aot": trainer.step.lower(jnp.zeros(4)).compile()}  # fmt: skip
    result = ipyjaxbench.measure_code(code, names, number=2, repeat=3)
    assert "fresh-copies" in codes(result)
    assert names["p"] is p


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
    result = ipyjaxbench.measure_code("Box(f(x))", names, number=1, repeat=500)
    assert "elsewhere" not in codes(result)
    assert len(waits) < 250


def test_with_jit_disabled_it_works_too() -> None:
    code = (
        "import jax, jax.numpy as jnp, ipyjaxbench\n"
        "f = jax.jit(lambda x: x * 2); x = jnp.ones(4)\n"
        "with jax.disable_jit():\n"
        "    print(ipyjaxbench.measure_code('f(x)', dict(f=f, x=x), budget=0.05).waited)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


# The profiled pass


def many(x: Any) -> Any:
    for _ in range(20):
        x = x @ x / 300
    return x


SQUARE = jnp.ones((300, 300))
PROGRAMS: dict[str, tuple[Any, Any]] = {
    "products": (jax.jit(many), SQUARE),
    "element by element": (jax.jit(lambda v: jnp.tanh(v) * 2 + jnp.sin(v).sum()), jnp.ones(10**6)),
    "scan": (
        jax.jit(lambda x: jax.lax.scan(lambda c, _: (jnp.tanh(c @ x), None), x, None, 10)[0]),
        SQUARE,
    ),
    "several programs": (lambda x: (PROGRAMS["scan"][0](x), PROGRAMS["products"][0](x)), SQUARE),
    "eager": (lambda x: jnp.sin(x) @ x + 1, SQUARE),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.usefixtures("real_clock")
def test_the_cpu_is_busy_in_a_call_and_never_for_longer(name: str) -> None:
    function, x = PROGRAMS[name]
    names = {"f": function, "x": x}
    found = ipyjaxbench.measure_code("f(x)", names, number=2, repeat=3, profile=True).device
    assert found is not None
    assert found.reasons == {}
    (seen,) = found.passes
    assert list(seen.devices) == ["cpu:0"]
    assert 0 < seen.busy <= seen.elapsed
    assert seen.busy <= seen.worked * 1.001


def operations(code: str, **names: Any) -> dict[str, float]:
    """How often each operation runs in a call."""
    found = ipyjaxbench.measure_code(code, names, number=2, repeat=3, profile=True).device
    assert found is not None
    (seen,) = found.passes
    return {operation.name: operation.count / seen.calls for operation in seen.operations}


def test_operations_are_those_of_the_compiled_program_and_nothing_else() -> None:
    counts = operations("f(x)", f=PROGRAMS["products"][0], x=SQUARE)
    assert sum(counts.values()) == 40  # each product, and its division
    assert set(counts.values()) == {20.0}


def test_the_tiny_programs_that_wait_for_all_work_are_not_among_them() -> None:
    counts = operations("f(x); None", f=PROGRAMS["products"][0], x=SQUARE)
    assert sum(counts.values()) == 40


def test_copies_that_stand_in_for_donated_arguments_are_not_among_them() -> None:
    give = jax.jit(lambda x: x + 1, donate_argnums=0)
    assert list(operations("give(x)", give=give, x=jnp.ones(1000)).values()) == [1.0]


def test_a_trace_of_the_users_goes_on_and_is_the_reason_why_nothing_is_told(
    tmp_path: Path,
) -> None:
    names = {"f": PROGRAMS["products"][0], "x": SQUARE}
    jax.profiler.start_trace(str(tmp_path))
    result = ipyjaxbench.measure_code("f(x)", names, number=2, repeat=3, profile=True)
    jax.profiler.stop_trace()
    assert result.device.reasons == {"jax": "another profiler is already running"}
    (trace,) = tmp_path.rglob("*.xplane.pb")
    planes = jax.profiler.ProfileData.from_file(str(trace)).planes
    names_seen = {event.name for plane in planes for line in plane.lines for event in line.events}
    assert any("PjitFunction" in name for name in names_seen)


def test_a_trace_can_be_started_after_one_that_could_not_be_written() -> None:
    session = _profiler.ProfilerSession()  # as a server has it while it captures
    found = _adapter().capability(Profiler).profile(lambda: None)
    session.stop()
    assert found.reason == "another profiler is already running"
    assert (
        _adapter().capability(Profiler).profile(lambda: jax.block_until_ready(SQUARE + 1)).intervals
        != ()
    )


def test_warnings_that_are_errors_do_not_end_the_process() -> None:
    """jaxlib warns when its types are made, which is when the first profile is read."""
    code = (
        "import jax, jax.numpy as jnp, ipyjaxbench\n"
        "names = dict(f=jax.jit(lambda x: jnp.sin(x) @ x), x=jnp.ones((64, 64)))\n"
        "found = ipyjaxbench.measure_code('f(x)', names, number=2, repeat=3, profile=True).device\n"
        "print(found.reasons, [seen.framework for seen in found.passes])"
    )
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "{} ['jax']", done.stderr[-2000:]


def test_the_folder_of_the_trace_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    seen: list[int] = []
    _adapter().capability(Profiler).profile(lambda: seen.append(len(list(tmp_path.iterdir()))))
    assert seen == [1]
    assert list(tmp_path.iterdir()) == []


def test_a_version_that_does_not_read_profiles_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jax.profiler, "ProfileData", None)
    result = ipyjaxbench.measure_code("x + 1", {"x": SQUARE}, number=2, repeat=2, profile=True)
    told = "unknown for jax: this version cannot read profiles (jax 0.10 can)"
    assert told in " ".join(str(result).split())


def test_a_version_whose_profiler_takes_other_options_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(jax.profiler, "ProfileOptions")
    profile = _adapter().capability(Profiler).profile(lambda: None)
    assert "ProfileOptions" in profile.reason
    assert not profile.intervals


def recognisable() -> None:
    jax.block_until_ready(SQUARE + 1)


def test_a_profile_holds_nothing_of_python(tmp_path: Path) -> None:
    profiler._start(str(tmp_path))
    recognisable()
    profiler._stop()
    (trace,) = tmp_path.rglob("*.xplane.pb")
    planes = jax.profiler.ProfileData.from_file(str(trace)).planes
    names = {event.name for plane in planes for line in plane.lines for event in line.events}
    assert names
    assert not any("recognisable" in name for name in names)


FIRST_TIMING = """
import sys, jax, jax.numpy as jnp, ipyjaxbench
f = jax.jit(lambda x: x + 1)
ipyjaxbench.measure_code("f(x)", {"f": f, "x": jnp.ones(3)}, budget=0.01)
print(sum(name.startswith("ipyjaxbench.adapters") for name in sys.modules))
"""


def test_the_first_timing_of_an_array_imports_few_modules_of_adapters() -> None:
    out = subprocess.run([sys.executable, "-c", FIRST_TIMING], capture_output=True, check=True)
    assert int(out.stdout) <= 20
