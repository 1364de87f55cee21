"""A sample of everything that can be shown: each kind of result, and each block of a report."""

import importlib
import json
import typing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import ipyjaxbench
from ipyjaxbench.cluster.exchange import Exchange
from ipyjaxbench.cluster.job_measurement import JobMeasurement, RankMeasurement
from ipyjaxbench.cluster.job_peaks import JobPeaks, RankPeaks
from ipyjaxbench.cluster.job_traces import JobTraces, RankTraces
from ipyjaxbench.cluster.job_whereabouts import JobArray, JobWhereabouts, RankPlaces
from ipyjaxbench.cluster.network_peaks import CollectiveTime, NetworkPeaks
from ipyjaxbench.cluster.rank_facts import RankFacts
from ipyjaxbench.comparison.comparison import ArmResult, Comparison
from ipyjaxbench.comparison.scaling import Scaling
from ipyjaxbench.comparison.sweep import Point, Sweep
from ipyjaxbench.device.about import About
from ipyjaxbench.device.held import Held, Holder
from ipyjaxbench.device.memory_settings import MemorySetting, MemorySettings
from ipyjaxbench.device.peaks import DevicePeaks, Peaks
from ipyjaxbench.device.sharding import Shard, Sharding
from ipyjaxbench.device.transfers import Transfer, Transfers
from ipyjaxbench.device.whereabouts import ArrayPlacement
from ipyjaxbench.records.benchmarks import Benchmark, Benchmarks
from ipyjaxbench.records.commits import AtCommit, CommitLine, Commits
from ipyjaxbench.records.entry import HistoryEntry
from ipyjaxbench.records.history import History
from ipyjaxbench.records.notebook_diff import Pair, Rerun
from ipyjaxbench.reports.blocks import (
    Block,
    Calls,
    Code,
    Details,
    Facts,
    Footer,
    Grid,
    Headline,
    Listing,
    Notes,
    Table,
)
from ipyjaxbench.reports.note import Note
from ipyjaxbench.reports.pictures import (
    Axis,
    Bar,
    Bars,
    Chart,
    Distribution,
    Flow,
    Flows,
    Panel,
    Picture,
    Segment,
    Series,
    Stack,
    Tiles,
)
from ipyjaxbench.reports.result import MIME, Result
from ipyjaxbench.retracing import Change, TracedCall, Traces
from ipyjaxbench.steps import LineTime, LoopTimes, StepTime
from ipyjaxbench.timing import Measurement
from ipyjaxbench.timing.figure_change import Figure
from tests.results import measured

EXAMPLES = Path(__file__).parents[1] / "examples"
_LINES = {
    name: tuple((10.0**x, 1e-6 * 10 ** (k * x), 0.9e-6 * 10 ** (k * x), 1.1e-6 * 10 ** (k * x))
                for x in range(1, 5))
    for name, k in (("numpy", 0.2), ("jax", 0.4), ("torch", 0.7), ("tensorflow", 1.0))
}  # fmt: skip
_PROGRAM = "{ lambda ; a:f32[3]. let\n    b:f32[3] = tanh a\n  in (b,) }\n+ new\n- old"
_CALLS = (("3", "f(x)", "first call"), ("4", "f(y)", "as it\nis"))
_DEVICES = (("0-7", "cpu:0", "cpu:1"), ("8-15", "cpu:2", "cpu:3"))
_SAMPLES: tuple[Block, ...] = (
    Headline("f(x)", "2.12 ms", "± 1.1 % per call, waited for", "QUIET", "steady"),
    Facts((("where", "x f32[3,4] cpu:0 → f32[3]"), ("with", "jax 0.10.2"))),
    Distribution("samples", (2.05e-3, 2.1e-3, 2.12e-3, 2.1e-3, 2.31e-3) * 5 + (9e-3,)),
    Flows((Flow("host", "cpu:1", 4096, "4.00 KiB"),
           Flow("cpu:1", "host", 4, "4 B", implicit=True))),
    Tiles((Panel("w f32[16,8]", (("rows 0-3", 4), ("rows 4-15", 12)), (("", 8),),
                 (("cpu:0,1",), ("cpu:2,3",))),)),
    Stack((("first call", (Segment("trace", 4e-3), Segment("compile", 0.09)), "94.0 ms"),)),
    Notes(tuple(Note(f"n{i}", f"note {i}", "write  g(x)", "!") for i in range(5))),
    Table("operations", ("operation", "runs", "time"), (("dot", "4", "9 ms"),) * 3),
    Bars((Bar("numpy", 0.3, 0.29, 0.31, "300 ms", "", baseline=True),
          Bar("jax", 0.1, 0.09, 0.12, "100 ms", "3.0× faster"))),
    Chart(Axis("n"), Axis("time per call", "s"),
          tuple(Series(name, line) for name, line in _LINES.items())),
    Code("jaxpr", _PROGRAM),
    Calls(("line", "call", "why"), _CALLS),
    Grid("w f32[16,8]", ("0-3", "4-7"), _DEVICES),
    Listing("FLOP by line", (("7", 0.9, "250 MFLOP", "y = x @ x"), ("8", 0.0, "", "return y"))),
    Footer(("x f32[3] cpu:0", "", "jax 0.10.2")),
    Details("3 calls", (Facts((("waited", "6.3 ms"),)),)),
)  # fmt: skip
BLOCKS: dict[str, Block] = {type(block).__name__: block for block in _SAMPLES}
_COPY = Transfer("jax", 2, "np.array(x)", "", "gpu:0", "host", "float32", (512, 512), 2**20, True,
                 seconds=6.3e-3, waited=2e-3)  # fmt: skip
_PEAKS = DevicePeaks(
    framework="jax", version="0.10.2", device="cpu:0", kind="cpu", threads=2, settings="",
    products={"float32": 100e9}, bandwidth=20e9, beyond=2**26, upload=None, download=None,
    latency=1e-6, spread=0.01, others=0.0, seconds=1.5, taken=1000.0,
    spreads={"float32": 0.01, "memory": 0.04, "latency": 1.0}, missing=("int8",),
)  # fmt: skip
_SOUND = Figure(1e-3, 0.02, 40, "QUIET")
_PAST = tuple(
    HistoryEntry(1, day * 86400.0, "fwtime", "f", "f(x)", _SOUND, 1e-3) for day in (3, 2, 1)
)
_LINE = CommitLine(
    "test_it.py::test_f",
    tuple(
        AtCommit(number * 40, f"change {number}", e) for number, e in zip("ab", _PAST, strict=False)
    ),
)
_PAIR = Pair("f(x)", 3, _SOUND, Figure(2e-3, 0.03, 40, "QUIET"))
#: Results of kinds that no example has.
_PLACES = JobWhereabouts(
    ("x", "b"),
    (
        RankPlaces("rank 0", "node-0", 7, {"cpu": 12}, {"jax": (2, 8)}),
        RankPlaces("rank 1", "node-1", 8, {"cpu": 4}, failures={"b": "name 'b' is not defined."}),
        RankPlaces("rank 2", silent="died"),
    ),
    3,
    (
        JobArray(
            ArrayPlacement("x", "torch", "int8", (8,), 8, ()), (0, 1), (4, 4), 0, is_global=True
        ),
        JobArray(ArrayPlacement("b", "torch", "int8", (8,), 8, ("cpu",)), (0,), (8,)),
    ),
    (
        Sharding(
            (8,),
            (Shard("rank:0", ((0, 4),), 0), Shard("rank:1", ((4, 8),), 1)),
            (("dp", 2),),
            (("dp",),),
        ),
    ),
    {"torch": "2.13.0"},
)
_RAN = Traces("f(x)", {"jax": "0.10.2"},
              (TracedCall("f", "jax", 1, "f(x)", 1, 1, "TRACED", 0.1, {"trace": 0.1},
                          (Change("shape", "x", "f32[3]", "f32[4]"),)),))  # fmt: skip
_HIT = replace(_RAN, calls=(replace(_RAN.calls[0], state="CACHED", phases={}, why=()),))
_JOB_TRACES = JobTraces(
    "f(x)",
    (
        RankTraces("rank 0", "node-0", 7, _HIT),
        RankTraces("rank 1", "node-1", 8, _RAN),
        RankTraces("rank 2", "node-1", 9, silent="died"),
    ),
    "jax",
)
_SCALING = Sweep(
    ("engines",),
    ("step", "copy"),
    tuple(
        Point(
            (str(n),),
            Comparison(
                (
                    ArmResult(
                        "step", measured([10**6 * 8 // n + 10**5 + i % 3 for i in range(40)])
                    ),
                    ArmResult("copy", measured([10**6 + 10**5 * n + i % 3 for i in range(40)])),
                ),
                "step",
                interleaved=False,
            ),
        )
        for n in (1, 2, 4)
    ),
    planned=4,
    scaling=Scaling({"step": "strong", "copy": "weak"}, reads=("step",)),
)
_NETWORK = NetworkPeaks(
    "torch", "2.13.0", "gloo", ("a", "b"), 2,
    (CollectiveTime("all-reduce", 4096, (1e-4, 2e-4)),
     CollectiveTime("all-reduce", 2**26, (0.05, 0.06))),
    {"reduce-scatter": "not offered by gloo"}, 9.1, 1000.0, 2000.0, stored=True,
    words=("not stored for other sessions: the disk is full",),
)  # fmt: skip
_STEP = Measurement(
    "step(x)", {"jax": "0.10.2"}, 0.1, {"compile": 0.08}, 1, 1, ((1, 20_000_000),) * 20, (20,),
    notes=(Note("recompiles", "2 of 20 calls compiled again.", "", "!"),),
)  # fmt: skip
_LATE = replace(_STEP, frameworks={"jax": "0.10.1"}, compilations=0, notes=())
_JOB = JobMeasurement(
    "step(x)",
    tuple(
        RankMeasurement(
            rank, f"node-{rank}", 7, own, (waits,) * 20, (10**9, 2 * 10**9 + rank * 20_000_000),
            (Exchange("all-reduce", 1, 2**20),),
            RankFacts(own.frameworks, {"jax cpu": 1 + rank}, 2, {"torch": 1 + rank}, "boot"),
        )
        for rank, own, waits in ((0, _STEP, 0.015), (1, _LATE, 0.001))
    ),
    "jax",
)  # fmt: skip
_JOB_PEAKS = JobPeaks((RankPeaks("rank 0", "a", (_PEAKS,)), RankPeaks("rank 1", "b", ())), _NETWORK)
_OTHERS: tuple[Result, ...] = (
    _SCALING,
    LoopTimes(
        "for x in batches: y = step(x)",
        1,
        tuple(StepTime(2e-3, 1e-3, 0.0, 5e-4, 0.0) for _ in range(9)),
        (
            LineTime(1, "for x in batches:", "data", 14e-3),
            LineTime(1, "y = step(x)", "host", 7e-3, 3.5e-3, 9, "jax"),
        ),
        frameworks={"jax": "0.10.2"},
    ),
    Transfers("np.array(x)", 8e-3, {"jax": "0.10.2"}, (_COPY,)),
    Peaks((_PEAKS,), 2000.0, 1.5, ("nothing else ran",)),
    MemorySettings("--no-prealloc", (MemorySetting("jax", "set", "unset"),), "there is no GPU"),
    Held(
        (Holder("output", "Out[7]['loss']", 1, 4096, 4096, "", "%fwdevices --release"),),
        0,
        4096,
        elsewhere={"jax": (2, 64)},
        unexplained={"torch cuda:0": 2**21},
        frameworks={"torch": "2.13.0"},
    ),
    Rerun("a.ipynb", "b.ipynb", (_PAIR,), ("jax 0.10.1 → 0.10.2",), refused=1),
    History(
        _PAST, 3, 5, 4 * 86400.0, {"a.jsonl": 1}, "the disk is full", plotted=True, removed=(1, 2)
    ),
    Benchmarks((Benchmark(_PAST[0]), Benchmark(_PAST[1], "nothing was computed"))),
    Commits((_LINE,)),
    _NETWORK,
    _JOB_PEAKS,
    _JOB,
    _PLACES,
    _JOB_TRACES,
    About((("ipyjaxbench", "0.1.0"), ("front end", "JupyterLab"), ("jax", "0.10.2, cpu:0"))),
)


def block_kinds() -> set[str]:
    """The names of all blocks that a report can have."""
    kinds = {*typing.get_args(Block), *Picture.__subclasses__()} - {Picture}
    return {kind.__name__ for kind in kinds}


def result_kinds() -> dict[str, type[Result]]:
    """All kinds of results that the package has."""
    package = Path(ipyjaxbench.__file__).parent
    for path in package.glob("*/**/*.py"):
        room, *names = path.relative_to(package).with_suffix("").parts
        if room != "adapters" and names[-1] != "__init__":
            importlib.import_module(".".join(["ipyjaxbench", room, *names]))
    return {each.kind: each for each in Result.__subclasses__()
            if each.__module__.startswith("ipyjaxbench.")}  # fmt: skip


@cache
def results() -> dict[str, Result]:
    """Results of real runs, read from the example notebooks, and what those do not have."""
    kinds = result_kinds()
    found: dict[str, Result] = {}
    for path in sorted(EXAMPLES.glob("*.ipynb")):
        for number, record in enumerate(_records(json.loads(path.read_text("utf-8")))):
            found[f"{path.stem}-{number}"] = kinds[record["kind"]].from_dict(record)
    return found | {each.kind: each for each in _OTHERS}


def _records(notebook: Any) -> list[Any]:
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
    return [output["data"][MIME] for output in outputs if MIME in output.get("data", {})]
