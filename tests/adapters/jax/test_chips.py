"""Chips that this machine does not have: what is refused, and how answers are read."""

import importlib.util
import os
import signal
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import psutil
import pytest
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec

from ipyjaxbench import MissingLibraryError, OptionError
from ipyjaxbench.adapters.jax.chips import compile_remote, estimate
from ipyjaxbench.adapters.jax.chips.find_chips import find_chips
from ipyjaxbench.graphs.graph import Graph
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.usercode.snippet import Source

NAMES: dict[str, Any] = {
    "jax": jax, "jnp": jnp, "x": jnp.ones((8, 6)), "y": jnp.ones((8, 8)), "none": jnp.ones((0, 4)),
    "tree": {"w": jnp.ones((6, 4)), "b": jnp.ones(3)}, "one": jnp.ones(()),
    "f": lambda tree, x: (x @ tree["w"]).sum() + tree["b"].sum(),
    "shown": lambda x: (jax.debug.print("{}", x.sum()), x + 1)[1],
}  # fmt: skip
TOLD = {
    "seconds": 1e-6, "flops": 10.0, "moved": 20.0, "memory": 30, "held": 4096, "real": 100,
    "loops": False, "unknown": [], "collectives": [],
}  # fmt: skip


def graph(code: str, *asked: str, shard: tuple[tuple[str, int], ...] = ()) -> Graph:
    return trace_program(Source.plain(code), dict(NAMES), GraphOptions(on=asked, shard=shard))


class Exported:
    """A program that can be taken elsewhere: some versions ask for more libraries to make one."""

    nr_devices = 1
    serialize = bytes


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Compilers that answer the same of every program, and what they are asked."""
    asked: list[dict[str, Any]] = []

    def answers(these: list[dict[str, Any]]) -> list[dict[str, Any]]:
        asked.extend(these)
        return [dict(TOLD) for _ in these]

    monkeypatch.setattr(importlib.util, "find_spec", lambda _: True)
    monkeypatch.setattr(estimate, "_exported", lambda *_, is_own: Exported())
    monkeypatch.setattr(compile_remote, "answers", answers)
    return asked


def runs(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Have a script stand for the worker."""
    monkeypatch.setattr(compile_remote, "_WORKER", (sys.executable, "-c", code))


KNOWN = "must be one of tpu:v2, tpu:v3, tpu:v4, tpu:v5e, tpu:v5p, tpu:v6e, tpu:v7x"
SEVERAL = "write several chips as tpu:%s; the first two numbers must be even"


def test_what_is_no_chip_is_refused_with_what_is_one() -> None:
    for chip, words in (
        ("tpu:v9", KNOWN), ("tpu:v5e:2xx2", KNOWN), ("tpu:v5e:3x3", SEVERAL % "v5e:2x2"),
        ("tpu:v4:2x2", SEVERAL % "v4:2x2x1"), ("tpu:v5e:0x2", SEVERAL % "v5e:2x2"),
    ):  # fmt: skip
        with pytest.raises(OptionError) as caught:
            graph("x + 1", chip)
        assert str(caught.value) == f"--on {chip}: {words}"


ALONE: dict[str, Any] = {"chips_per_host_bounds": (1, 1, 1)}
BOTH_CORES = {"chip_config_name": "megacore"}


@pytest.mark.parametrize(
    ("chip", "compiler", "devices", "gibibytes", "arguments"),
    [
        ("tpu:v2", "v2:1x1", 1, 8, None), ("tpu:v2:2x2", "v2:2x2", 8, 8, {}),
        ("tpu:v3:2x2", "v3:2x2", 8, 16, {}), ("tpu:v4", "v4:1x1x1", 1, 32, ALONE | BOTH_CORES),
        ("tpu:v4:2x2x3", "v4:2x2x3", 12, 32, BOTH_CORES), ("tpu:v5e", "v5e:1x1", 1, 16, ALONE),
        ("tpu:v5e:2x4", "v5e:2x4", 8, 16, {}), ("tpu:v5p:2x2x1", "v5p:2x2x1", 4, 95, None),
        ("tpu:v7x:2x2x1", "tpu7x:2x2x1", 8, 96, None),
    ],
)  # fmt: skip
def test_chips_have_so_many_devices_with_the_memory_that_cloud_tpu_names(
    chip: str, compiler: str, devices: int, gibibytes: int, arguments: dict[str, Any] | None
) -> None:
    found = find_chips(chip)
    assert (found.compiler, found.devices) == (compiler, devices)
    assert found.memory == gibibytes * 1024**3
    assert arguments in (None, found.arguments)


def test_without_the_compiler_the_command_that_installs_it_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingLibraryError) as caught:
        graph("x + 1", "tpu:v5e")
    assert str(caught.value) == "libtpu is not installed: pip install ipyjaxbench[tpu]"


@pytest.mark.parametrize(
    ("code", "chip", "shard", "told"),
    [
        ("f(tree, x)", "v5e", [("x", 0)], " needs several chips, as in --on tpu:v5e:2x2"),
        ("f(tree, x)", "v5e:2x2", [("y", 0)], " y: the inputs are tree['b'], tree['w'], x"),
        ("f(tree, x)", "v5e:2x2", [("x", 2)], " x:2: x is f32[8,6]; its axes are 0, 1"),
        ("f(tree, x)", "v5e:2x2", [("x", 1)], " x:1: x is f32[8,6], and 6 is not divisible by 4"),
        ("f(tree, x)", "v5e:2x2", [("tree", 0)],
         " tree:0: no array in tree has an axis 0 that 4 chips divide evenly"),
        ("none + 1", "v5e:2x2", [("none", 0)],
         " none:0: none is f32[0,4], and 0 is not divisible by 4"),
        ("one + 1", "v5e:2x2", [("one", 0)], " one:0: one is f32[]; a scalar has no axes"),
        ("y.sum()", "v5e:2x2", [("y", 0), ("y", 1)], " y:1: y is already sharded along another"),
    ],
)  # fmt: skip
def test_what_cannot_be_cut_is_refused(
    code: str, chip: str, shard: list[tuple[str, int]], told: str
) -> None:
    with pytest.raises(OptionError) as caught:
        graph(code, f"tpu:{chip}", shard=tuple(shard))
    assert str(caught.value).startswith(f"--shard{told}")


def test_an_argument_is_cut_wherever_it_can_be(worker: list[dict[str, Any]]) -> None:
    found = graph("f(tree, x)", "tpu:v5e:2x2", "tpu:v5e", shard=(("tree", 1), ("x", 0)))
    several, single = worker
    assert several["specs"] == ((), ((), ("chips",)), (("chips",),))
    assert several["mesh"] == (("chips", 4),)
    assert single["specs"] == ((), (), ())
    assert [note.text for note in found.notes if note.code == "stays-whole"] == [
        "Replicated on each device, since 4 does not divide the axis: tree['b']."
    ]


@pytest.mark.skipif(jax.__version_info__ < (0, 6), reason="abstract meshes are made otherwise")
def test_a_mesh_within_the_program_counts_where_it_has_as_many_devices(
    worker: list[dict[str, Any]],
) -> None:
    from jax.sharding import AxisType

    auto = (AxisType.Auto,) * 2  # what a version takes for granted changes
    cut = NamedSharding(AbstractMesh((2, 2), ("a", "b"), axis_types=auto), PartitionSpec("a"))
    NAMES["within"] = lambda x: jax.lax.with_sharding_constraint(x, cut) + 1
    graph("within(y)", "tpu:v5e:2x2", "tpu:v5e:2x4", "tpu:v5e", shard=(("x", 0),))
    assert [(asked["mesh"], asked["specs"]) for asked in worker] == [
        ((("a", 2), ("b", 2)), ((("a", "b"),),)),
        ((("chips", 8),), ((("chips",),),)),
        ((("chips", 1),), ((),)),
    ]


def test_a_sharding_in_the_program_needs_as_many_devices() -> None:
    four, exported = find_chips("tpu:v5e:2x2"), Exported()
    for exported.nr_devices in (1, 4):
        assert estimate._refused(exported, four) == {}
    exported.nr_devices = 2
    why = "the program is sharded over 2 devices, and tpu:v5e:2x2 has 4; use as many chips"
    assert estimate._refused(exported, four) == {"error": why}
    assert estimate._refused("why", four) == {"error": "why"}


MIB = 2**20


def held(nbytes: int, padding: int) -> dict[str, Any]:
    return {"held": nbytes, "real": nbytes - padding}


@pytest.mark.parametrize(
    ("chip", "told", "devices", "code"),
    [
        ("tpu:v5e:2x2", {}, 1, "nothing-cut"),  # all do the same
        ("tpu:v5e:2x2", {}, 4, ""),  # they share the work by what the program says
        ("tpu:v5e", {"loops": True}, 1, "loops-once"),
        ("tpu:v5e", {"unknown": ["Cholesky"]}, 1, "no-estimate"),
        ("tpu:v5e", held(5 * MIB, MIB), 1, ""),
        ("tpu:v5e", held(5 * MIB, MIB + 1), 1, "padded"),  # more than a mebibyte
        ("tpu:v5e", held(100 * MIB, 10 * MIB), 1, ""),
        ("tpu:v5e", held(100 * MIB, 10 * MIB + 1), 1, "padded"),  # more than a tenth of it
        ("tpu:v2", {}, 1, "half-chips"),
    ],
)
def test_what_changes_the_meaning_of_an_estimate_is_a_note(
    chip: str, told: dict[str, Any], devices: int, code: str, worker: object,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(Exported, "nr_devices", devices)
    monkeypatch.setattr(compile_remote, "answers", lambda asked: [TOLD | told for _ in asked])
    found = graph("x + 1", chip)
    assert [note.code for note in found.notes] == [code] * bool(code)
    assert Graph.from_dict(found.to_dict()).estimates == found.estimates


def test_why_a_program_does_not_compile_is_read() -> None:
    exhausted = "E: RESOURCE_EXHAUSTED: required (26.84G) exceeds available HBM (15.75G)."
    for error, memory, limit, words in (
        (exhausted, 26.84, 15.75, ""), ("RESOURCE_EXHAUSTED: Used 20.00G of 16.00G", 20, 16, ""),
        ("JaxRuntimeError: no\nmore", 0, 16, "JaxRuntimeError: no more"),
    ):  # fmt: skip
        found = estimate._estimate(find_chips("tpu:v5e"), {"error": error})
        assert found.seconds is None
        assert (found.memory, found.limit) == (int(memory * 2**30), int(limit * 2**30))
        assert found.error == words


def test_this_machine_stands_beside_the_chips(worker: list[dict[str, Any]]) -> None:
    found = graph("x @ x.T", "tpu:v5e")
    chip, here = found.estimates
    assert (chip.chip, here.chip) == ("tpu:v5e", f"here ({jax.default_backend()})")
    assert here.flops == pytest.approx(2 * 8 * 8 * 6)
    assert here.memory >= 4 * (8 * 6 + 8 * 8)
    assert here.limit == psutil.virtual_memory().total
    assert "Measure it with %fwtime." in str(found)


ONE_BY_ONE = """
import json, os, signal, sys, time
for each in json.load(sys.stdin):
    if "dies" in each:
        print("Check failed: no", file=sys.stderr, flush=True); os.abort()
    if "ends" in each:
        sys.exit(each["ends"])
    if "seconds" in each:
        signal.setitimer(signal.ITIMER_REAL, each["seconds"]); time.sleep(60)
    print(json.dumps(each), flush=True)
"""


def test_a_compiler_that_ends_or_takes_too_long_costs_its_own_answer_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs(monkeypatch, ONE_BY_ONE)
    assert compile_remote.answers([]) == []
    said = "first\n  last  word\n "
    asked = [{"a": 1}, {"dies": 1}, {"seconds": 0.1}, {"ends": 3}, {"ends": said}, {"b": 2}]
    assert compile_remote.answers(asked) == [
        {"a": 1},
        {"error": "the compiler exited with SIGABRT: Check failed: no"},
        {"error": "the compiler took longer than 10 minutes"},
        {"error": "the compiler exited with 3"},
        {"error": "the compiler exited with 1: last word"},
        {"b": 2},
    ]
    assert compile_remote.error_line(KeyError("a")) == "KeyError: 'a'"
    assert compile_remote.error_line("a\n  " + "x" * 121) == "a " + "x" * 118


def test_the_memory_of_this_machines_accelerator_is_its_own() -> None:
    for stats, limit in ({"bytes_limit": 7}, 7), (None, 0):
        device = SimpleNamespace(platform="gpu", memory_stats=lambda stats=stats: stats)
        assert estimate._memory_of(device) == limit


def test_an_interrupt_ends_the_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    place = tmp_path / "pid"
    writes = f"pathlib.Path({str(place)!r}).write_text(str(os.getpid()))"
    runs(monkeypatch, f"import os, time, pathlib\n{writes}\ntime.sleep(60)")

    def interrupt() -> None:
        while not (place.exists() and place.read_text()):
            pass
        os.kill(os.getpid(), signal.SIGINT)

    watcher = threading.Thread(target=interrupt, daemon=True)
    watcher.start()
    with pytest.raises(KeyboardInterrupt):
        compile_remote.answers([{}])
    watcher.join()
    assert not psutil.pid_exists(int(place.read_text()))


def test_the_compiler_gets_no_settings_that_write_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "kept")
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=kept")
    environment = compile_remote._environment()
    assert "kept" not in str(environment)
    assert (environment["JAX_PLATFORMS"], environment["JAX_ENABLE_X64"]) == ("cpu", "False")
    monkeypatch.setattr(sys, "path", ["", "/somewhere"])
    path = compile_remote._environment()["PYTHONPATH"]
    assert path == os.pathsep.join([str(Path.cwd()), "/somewhere"])


def test_a_program_that_calls_python_is_not_taken_to_a_chip(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: True)
    chip, here = graph("shown(x)", "tpu:v5e").estimates
    assert chip.error.startswith("the program calls back into Python (")
    assert here.flops
