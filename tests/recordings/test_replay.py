"""Recordings of a GPU, read as when they were made."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ipyjaxbench.adapters.jax.chips.gpu_file import read_description
from ipyjaxbench.adapters.shared import xplane
from ipyjaxbench.adapters.torch.profiler import operations, replays_graphs, sees_cuda
from ipyjaxbench.host import Conditions, causes, nvml
from ipyjaxbench.timing import Interval
from ipyjaxbench.timing.device_time import DeviceTime, profiled_pass
from ipyjaxbench.timing.validity import checks
from ipyjaxbench.usercode import describe_error
from tests.hardware import record
from tests.results import STEADY, measured

#: By folder: the driver's name of the GPU, bytes that it has by the driver and by XLA, bytes/s.
FACTS = {
    "h100": ("NVIDIA H100 80GB HBM3", 85_520_809_984, 85_017_493_504, 3.35e12),
    "h200": ("NVIDIA H200", 150_754_820_096, 150_109_880_320, 4.8e12),
}
FOLDERS = sorted(path for path in Path(__file__).parent.iterdir() if path.name[0] not in "._")
FOLDERS = [path for path in FOLDERS if path.is_dir()]


@pytest.fixture(params=FOLDERS, ids=lambda path: path.name)
def folder(request: pytest.FixtureRequest) -> Path:
    """The recordings of one GPU."""
    path: Path = request.param
    return path


@pytest.fixture
def recorded(folder: Path) -> Any:
    """A function that reads one part of a recording."""

    def read(part: str) -> Any:
        path = folder / f"{part}.json.gz"
        if not path.exists():
            pytest.skip(f"{part} was not recorded on an {folder.name}")
        return json.loads(gzip.decompress(path.read_bytes()))

    return read


def jax_intervals(planes: list[Any]) -> tuple[Interval, ...]:
    lines = [
        xplane.Line(plane, name, [xplane.Event(e, at, at + took, stats)
                                  for e, at, took, stats in events])
        for plane, of_plane in planes if xplane.may_hold_operations(plane)
        for name, events in of_plane
    ]  # fmt: skip
    return xplane.operations(lines, xplane.hlo_operation)


def torch_intervals(events: list[dict[str, Any]]) -> tuple[Interval, ...]:
    return operations(shown_events(events), {})


def shown_events(events: list[dict[str, Any]]) -> list[SimpleNamespace]:
    return [
        SimpleNamespace(**{
            **event,
            "time_range": SimpleNamespace(start=event["time_range"][0], end=event["time_range"][1]),
            "device_type": SimpleNamespace(name=event["device_type"]),
        })
        for event in events
    ]  # fmt: skip


def test_each_product_of_jax_is_one_kernel(recorded: Any) -> None:
    seen = jax_intervals(recorded("jax")["product"])
    assert [each.device for each in seen] == ["gpu:0"] * 3
    assert len({each.operation for each in seen}) == 1
    assert all(5e3 < each.end - each.start < 1e5 for each in seen)  # 2 GFLOP


def test_steps_of_a_scan_are_seen_one_by_one(recorded: Any) -> None:
    seen = jax_intervals(recorded("jax")["scan"])
    assert sum("gemm" in each.operation for each in seen) == 8
    assert {each.device for each in seen} == {"gpu:0"}


def test_copies_of_jax_are_on_streams_of_their_own(recorded: Any) -> None:
    seen = jax_intervals(recorded("jax")["copies"])
    assert sorted(each.operation for each in seen if "Memcpy" in each.operation) == [
        "MemcpyD2H", "MemcpyH2D",
    ]  # fmt: skip
    assert len({each.line for each in seen}) == 3


@pytest.mark.parametrize("run", ["eager", "graph", "side stream"])
def test_kernels_of_torch_are_seen_whatever_started_them(recorded: Any, run: str) -> None:
    seen = torch_intervals(recorded("torch")[run])
    assert [each.device for each in seen] == ["cuda:0"] * 2
    gemm, relu = sorted(seen, key=lambda each: each.start)
    assert "gemm" in gemm.operation
    assert relu.operation.startswith("at::native::vectorized_elementwise_kernel")


@pytest.mark.parametrize("run", ["eager", "compiled", "graph", "side stream", "copies"])
def test_a_session_of_cuda_ends_with_a_wait_that_the_profiler_sees(recorded: Any, run: str) -> None:
    events = shown_events(recorded("torch")[run])
    waits = [event for event in events if event.name == "cudaDeviceSynchronize"]
    assert len(waits) == 2  # the first is the code's
    of_host = [event for event in events if event.name.startswith("aten::")]
    assert [sees_cuda(each) for each in (events, waits, of_host)] == [True, True, False]


def test_a_side_stream_is_another_line(recorded: Any) -> None:
    lines = {
        run: {each.line for each in torch_intervals(recorded("torch")[run])}
        for run in ("eager", "side stream")
    }
    assert lines["eager"].isdisjoint(lines["side stream"])


@pytest.mark.parametrize(("run", "codes"), [
    ("eager", []),
    ("compiled", []),
    ("graph", ["replays-graph"]),
    ("side stream", ["side-streams"]),
])  # fmt: skip
def test_what_events_and_shapes_change_is_noted(recorded: Any, run: str, codes: list[str]) -> None:
    events = recorded("torch")[run]
    seen, replayed = torch_intervals(events), replays_graphs(shown_events(events))
    profiled = profiled_pass("torch", 1, 1e-3, [seen], replayed=replayed)
    found = checks.check_device_time(measured(STEADY, device=DeviceTime((profiled,))))
    assert [note.code for note in found] == codes


def test_a_compiled_function_is_fewer_kernels(recorded: Any) -> None:
    seen = torch_intervals(recorded("torch")["compiled"])
    assert len(seen) == 2
    assert any("triton" in each.operation for each in seen)


def test_the_description_of_a_chip_has_the_peaks_of_its_datasheet(
    recorded: Any, folder: Path, tmp_path: Path
) -> None:
    _, _, known, bandwidth = FACTS[folder.name]
    path = tmp_path / "chip.txtpb"
    path.write_text(recorded("target")["target_config"])
    _, memory, roof = read_description("gpu", path)
    assert memory == known
    assert roof.products["bfloat16"] == pytest.approx(989e12, rel=0.01)
    assert roof.bandwidth == pytest.approx(bandwidth, rel=0.02)


def test_a_part_that_cannot_be_recorded_names_no_folder_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(record.PARTS, "broken", lambda: {"never": 1 // 0})
    record.record("broken", tmp_path)
    found = json.loads(gzip.decompress((tmp_path / "broken.json.gz").read_bytes()))["failed"]
    assert "ZeroDivisionError" in found
    assert "test_replay.py" in found
    assert str(Path(__file__).parents[2]) not in found


def driver(answers: dict[str, Any]) -> SimpleNamespace:
    """A binding of the driver's library that answers as was recorded."""

    def answer(name: str) -> Callable[..., Any]:
        def tell(*args: int) -> Any:
            asked = [name, *map(str, args[1:])]
            found = answers[" ".join(asked)] if " ".join(asked) in answers else answers[name]
            return SimpleNamespace(**found) if isinstance(found, dict) else found

        return tell

    names = {each.partition(" ")[0] for each in answers} - {"nvmlDeviceGetComputeRunningProcesses"}
    found = SimpleNamespace(**{name: answer(name) for name in names})
    found.nvmlDeviceGetHandleByIndex = lambda index: index
    return found


def test_the_driver_answers_what_is_asked_of_it(
    recorded: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = recorded("nvml")["working"]
    monkeypatch.setattr(nvml, "_nvml", lambda: driver(answers))
    (gpu,) = nvml.query_gpus()
    name, memory, *_ = FACTS[folder.name]
    assert (gpu.name, gpu.clock, gpu.max_clock) == (name, 1980, 1980)
    assert (gpu.reasons, gpu.memory) == ((), memory)
    monkeypatch.setattr(nvml, "_has_cuda", lambda: True)
    counter = nvml.find_energy_counter()
    assert isinstance(counter, nvml.EnergyCounter)
    assert counter.joules() == answers["nvmlDeviceGetTotalEnergyConsumption"] / 1e3


def test_a_clock_that_power_limits_is_named_as_a_cause(
    recorded: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = recorded("nvml")
    if "hot" not in answers:
        pytest.skip("it was not recorded after two seconds of work")
    monkeypatch.setattr(nvml, "_nvml", lambda: driver(answers["hot"]))
    assert causes(Conditions(wall=2.0, cpu=1.0, cpus=2, usable=2, gpus=nvml.query_gpus())) == [
        "the GPU clock dropped to 93 % of its maximum (power cap)"
    ]


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        ("torch out of memory",
         "OutOfMemoryError: CUDA out of memory. Tried to allocate 4096.00 GiB."),
        ("jax out of memory",
         "JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4.00TiB"),
        ("torch illegal access",
         "AcceleratorError: CUDA error: an illegal memory access was encountered"),
    ],
)  # fmt: skip
def test_errors_of_a_gpu_are_one_line(recorded: Any, failure: str, words: str) -> None:
    raised = recorded("errors")[failure].rpartition("  File ")[2]
    path, _, message = next(
        line for line in raised.splitlines() if line.startswith(("torch.", "jax."))
    ).partition(": ")
    module, _, name = path.rpartition(".")
    rest = raised.partition(f"{path}: ")[2]
    error = type(name, (RuntimeError,), {"__module__": module})(rest)
    told = describe_error(error)
    assert message
    assert told.removeprefix(f"{module}.").startswith(words)
    assert len(told) <= 140
    assert "\n" not in told
