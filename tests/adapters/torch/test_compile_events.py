"""Dynamo's record of compilations: what is new in it, what it has lost, and whose its times are."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded

from ipyjaxbench.adapters.torch.compilation import DynamoWatch
from ipyjaxbench.adapters.torch.compile_events import Record, is_loaded, spell
from ipyjaxbench.frameworks import Program

FRAMES = "_compile.compile_inner"


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


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[float]]:
    """Dynamo's own times of frames."""
    times: dict[str, list[float]] = {FRAMES: []}
    monkeypatch.setattr(torch._dynamo.utils, "compilation_time_metrics", times)
    return times


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
    [
        ({}, False),
        ({"inductor_fx_local_cache_hit_count": 1}, True),
        ({"aotautograd_remote_cache_hit_count": 1, "inductor_fx_local_cache_miss_count": 0}, True),
        ({"inductor_fx_local_cache_hit_count": 1, "inductor_fx_remote_cache_miss_count": 1}, False),
    ],
)
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
    times: dict[str, list[float]],
    known: list[float],
    added: list[float],
    each: float,
) -> None:
    record.append(entry("before"))
    times[FRAMES][:] = known
    watch = DynamoWatch([])
    record[:] = [entry(dynamo=1.0, aot_autograd=0.25) for _ in range(64)]
    times[FRAMES][:] = added
    assert watch.compilations() == 66
    lost, known_ones = watch.programs()[:2], watch.programs()[2:]
    assert [(p.name, p.seconds, p.origin) for p in lost] == [
        ("?", pytest.approx(each), "compiled")
    ] * 2
    assert {(p.name, round(p.seconds or 0, 6)) for p in known_ones} == {("f", 0.25)}
    assert watch.phases() == {
        "trace": pytest.approx(64 * 0.75),
        "compile": pytest.approx(64 * 0.25 + 2 * each),
    }
    assert watch.compilations() == 66


def test_a_backward_pass_has_the_name_of_its_frame_and_its_own_times(record: list[Any]) -> None:
    watch = DynamoWatch([])
    record += [
        entry("f", compile_id=1, dynamo=4.0, aot_autograd=3.0, inductor=2.0),
        entry(None, compile_id=1, backward=2.0, inductor=1.5),
        entry(None, compile_id=9, backward=1.0, inductor=5.0),
    ]
    assert [(p.name, pytest.approx(p.seconds)) for p in watch.programs()] == [
        ("f", 2.0),
        ("f backward", 1.5),
        ("backward", 1.0),  # no part takes longer than the whole
    ]
    assert watch.phases() == {"trace": pytest.approx(2.5), "compile": pytest.approx(4.5)}


def test_what_is_loaded_from_disk_is_no_compilation(record: list[Any]) -> None:
    watch = DynamoWatch([])
    hit = {"inductor_fx_local_cache_hit_count": 1}
    record.append(entry("f", dynamo=4.0, aot_autograd=3.0, **hit))
    (program,) = watch.programs()
    assert program == Program("f", pytest.approx(3.0), "disk cache", "torch")
    assert list(watch.phases()) == ["trace", "cache load"]
