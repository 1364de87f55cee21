"""First calls of torch.compile by dynamo's record and marks, and cold calls, which leave caches."""

import functools
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded
from torch._dynamo.eval_frame import _debug_get_cache_entry_list
from torch._dynamo.utils import get_chromium_event_logger, get_compilation_metrics

import ipyjaxbench
from ipyjaxbench.adapters.torch import Torch
from ipyjaxbench.adapters.torch.compilation import DynamoWatch, cold_call, original
from ipyjaxbench.adapters.torch.compile_events import Record, Times, is_loaded, phases_of, spell
from ipyjaxbench.adapters.torch.compile_passes import profile_compilation
from ipyjaxbench.frameworks import Compilation, Program
from tests.shell import Shell

FRAMES = "_compile.compile_inner"
HIT, MISS = "inductor_fx_local_cache_hit_count", "inductor_fx_remote_cache_miss_count"


def entry(name: str | None = "f", **values: Any) -> Any:
    """An entry of the record; times are in seconds."""
    times = {f"{part}_cumulative_compile_time_us": 1e6 * values.pop(part)
             for part in ("dynamo", "aot_autograd", "inductor", "backward")
             if part in values}  # fmt: skip
    return SimpleNamespace(co_name=name, **times, **values)


@pytest.fixture
def record(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What dynamo's own function gives."""
    entries: list[Any] = []
    monkeypatch.setattr(torch._dynamo.utils, "get_compilation_metrics", lambda: entries)
    return entries


def test_each_entry_is_read_once_and_those_of_calls_are_left_out(record: list[Any]) -> None:
    record.append(entry("before"))
    reader = Record()
    assert reader.read() == []
    record += [entry("first"), entry("a call", is_runtime=True), entry("second")]
    assert [each.co_name for each in reader.read()] == ["first", "second"]
    assert reader.read() == []
    assert not reader.is_lossy


@pytest.mark.parametrize(
    ("count", "is_there", "is_lossy"), [(63, False, False), (64, False, True), (64, True, False)]
)
def test_a_full_record_without_the_last_known_entry_may_have_lost_some(
    record: list[Any], count: int, is_there: bool, is_lossy: bool
) -> None:
    record.append(entry("before"))
    reader = Record()
    record[int(is_there) :] = [entry() for _ in range(count)]
    assert len(reader.read()) == count
    assert reader.is_lossy is is_lossy


@pytest.mark.parametrize(
    ("counts", "expected"),
    [({}, False), ({HIT: 1}, True), ({HIT: 1, MISS: 1}, False),
     ({"aotautograd_remote_cache_hit_count": 1, MISS: 0}, True)],
)  # fmt: skip
def test_a_program_is_loaded_where_caches_had_all_of_it(
    counts: dict[str, int], expected: bool
) -> None:
    assert is_loaded(entry(**counts)) is expected


def test_the_rest_of_a_function_is_spelled_by_its_line() -> None:
    assert spell("torch_dynamo_resume_in_f_at_12") == "f from line 12"
    assert spell("f") == "f"


@pytest.mark.parametrize(
    ("known", "added", "each"),
    [
        ([5.0], [5.0, *[1.0] * 64, 1.0, 3.0], 2.0),
        ([5.0], [5.0, *[1.0] * 64, 0.5, -2.0], 0.0),  # less than is known of the others
        ([5.0] * 100, [*[1.0] * 64, 1.0, 3.0], 2.0),  # emptied meanwhile
    ],
)
def test_of_frames_that_the_record_has_lost_the_times_are_left(
    record: list[Any],
    known: list[float],
    added: list[float],
    each: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times = {FRAMES: known}
    monkeypatch.setattr(torch._dynamo.utils, "compilation_time_metrics", times)
    record.append(entry("before"))
    watch = DynamoWatch([])
    record[:] = [entry(dynamo=1.0, aot_autograd=0.25) for _ in range(64)]
    times[FRAMES] = added
    assert watch.compilations() == 66
    lost, known_ones = watch.programs()[:2], watch.programs()[2:]
    told = [(p.name, p.seconds, p.origin) for p in lost]
    assert told == [("?", pytest.approx(each), "compiled")] * 2
    assert {(p.name, round(p.seconds or 0, 6)) for p in known_ones} == {("f", 0.25)}
    compiled = pytest.approx(64 * 0.25 + 2 * each)
    assert watch.phases() == {"trace": pytest.approx(64 * 0.75), "compile": compiled}
    assert watch.compilations() == 66


def test_a_backward_pass_has_the_name_of_its_frame_and_its_own_times(record: list[Any]) -> None:
    watch = DynamoWatch([])
    record += [
        entry("f", compile_id=1, dynamo=4.0, aot_autograd=3.0, inductor=2.0),
        entry(None, compile_id=1, backward=2.0, inductor=1.5),
        entry(None, compile_id=9, backward=1.0, inductor=5.0),
    ]
    assert [(p.name, pytest.approx(p.seconds)) for p in watch.programs()] == [
        ("f", 2.0), ("f backward", 1.5), ("backward", 1.0),  # no part is longer than the whole
    ]  # fmt: skip
    assert watch.phases() == {"trace": pytest.approx(2.5), "compile": pytest.approx(4.5)}


def test_what_is_loaded_from_disk_is_no_compilation(record: list[Any]) -> None:
    watch = DynamoWatch([])
    record.append(entry("f", dynamo=4.0, aot_autograd=3.0, **{HIT: 1}))
    (program,) = watch.programs()
    assert program == Program("f", pytest.approx(3.0), "disk cache", "torch")
    assert list(watch.phases()) == ["trace", "cache load"]


@pytest.mark.parametrize(("times", "loaded", "phases"), [
    (Times(8.0, 5.0, 2.0), False, (3.0, 3.0, 2.0, 0.0)),
    (Times(8.0, 5.0, 2.0), True, (3.0, 0.0, 0.0, 5.0)),
    (Times(8.0, 9.0, 9.5), False, (0.0, 0.0, 8.0, 0.0)),
    (Times(8.0, 5.0, -1.0), False, (3.0, 5.0, 0.0, 0.0)),
    (Times(8.0, 5.0, 2.0, 4.0), False, (3.0, 3.0, 2.0, 0.0)),
    (Times(0.0, 0.0, 3.0, 4.0), False, (0.0, 0.0, 4.0, 0.0)),
    (Times(0.0, 0.0, 0.0), False, (0.0, 0.0, 0.0, 0.0)),
])  # fmt: skip
def test_the_times_of_a_compilation_are_parts_of_each_other(
    times: Times, loaded: bool, phases: tuple[float, ...]
) -> None:
    split = times.phases(loaded=loaded)
    assert split == dict(zip(("trace", "lower", "compile", "cache load"), phases, strict=True))


def test_what_took_no_time_is_no_phase() -> None:
    assert phases_of([entry(dynamo=3.0, aot_autograd=1.0)] * 2) == {"trace": 4.0, "lower": 2.0}


# Its marks


def test_marks_add_up_to_what_dynamo_took_and_are_put_back(shell: Shell) -> None:
    shell.run("%load_ext ipyjaxbench\nimport torch\n"
              "@torch.compile(backend='aot_eager')\n"
              "def unrolled(x):\n"
              "    for i in range(20):\n"
              "        x = torch.sin(x * i)\n"
              "    return x.sum()\n"
              "x = torch.ones(8)")  # fmt: skip
    shell.run("%fwtime -n 1 -r 2 --passes -v found unrolled(x)")
    found = shell.names["found"]
    (passes,) = found.fresh.passes
    seconds = sum(found.fresh.phases.values())
    assert 0.8 <= passes.seconds / seconds <= 1.2  # within 10 % where nothing else runs
    assert any(each.name.startswith("dynamo") for each in passes.passes)
    assert passes.lines[0].text == "x = torch.sin(x * i)"
    assert "log_event_end" not in vars(get_chromium_event_logger())


def test_an_error_puts_the_marks_back_and_eager_code_marks_nothing() -> None:
    def fails() -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        profile_compilation(fails)
    assert "log_event_end" not in vars(get_chromium_event_logger())
    made: list[Any] = []
    found = profile_compilation(lambda: made.append(torch.ones(3) + 1))
    assert made
    assert found.reason == "nothing was compiled under the profiler"


def entries(function: Any) -> int:
    return len(_debug_get_cache_entry_list(function.__code__))


def step(x: torch.Tensor) -> torch.Tensor:
    return torch.sin(x @ x).sum()


@pytest.fixture(autouse=True)
def _nothing_compiled() -> None:
    torch._dynamo.reset()


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
