"""What this machine tells of itself, and what is made of it."""

import dataclasses
import gc
import os
import platform
import subprocess
import sys
import time
from types import SimpleNamespace

import msgspec
import psutil
import pytest

from ipyjaxbench.host.conditions import Conditions, Meter, describe_machine
from ipyjaxbench.testing import FakeClock
from tests.trees import Tree


def test_wall_time_is_the_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeClock()
    meter = Meter(clock)
    for seconds in (2.5, 5.0):
        clock.advance(2_500_000_000)
        assert meter.read().wall == seconds
    monkeypatch.setattr(os, "cpu_count", lambda: None)  # where they cannot be counted there is one
    seen = meter.read()
    assert (seen.cpus, seen.usable) == (1, 1)


@pytest.mark.parametrize("name", ["Darwin", "Windows"])
def test_other_systems_tell_some(tree: Tree, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    here = describe_machine()["memory"]
    monkeypatch.setattr(platform, "system", lambda: name)
    seen = tree.meter().read()
    assert describe_machine(tree.root)["memory"] == here
    assert seen.busy is not None
    assert seen.usable == seen.cpus
    assert (seen.pressure, seen.waited, seen.steal, seen.throttles) == (None,) * 4
    assert (seen.switches is None) == (name == "Windows")


@pytest.mark.parametrize(("nice", "busy"), [({}, 9.0), ({"nice": 5}, 14.0)])
def test_busy_elsewhere_is_user_and_system_and_nice_time(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, nice: dict[str, float], busy: float
) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    before = SimpleNamespace(user=1, system=2, idle=50, **dict.fromkeys(nice, 1))
    after = SimpleNamespace(user=4, system=8, idle=90, **{key: 1 + n for key, n in nice.items()})
    readings = iter([before, after])
    monkeypatch.setattr(psutil, "cpu_times", lambda: next(readings))
    assert tree.meter().read().busy == busy


def test_no_more_cpu_time_is_counted_than_was_spent() -> None:
    before = time.process_time()
    meter = Meter(FakeClock())
    sum(range(1_000_000))
    seen = meter.read()
    assert 0 < seen.cpu <= time.process_time() - before
    assert 1 <= seen.usable <= seen.cpus == os.cpu_count()
    assert seen.check() is None


def test_collections_are_counted_and_none_is_caused() -> None:
    hooks = list(gc.callbacks)
    gc.disable()
    try:
        before = gc.get_stats()
        meter = Meter(FakeClock())
        assert meter.read().collections == 0
        assert (gc.get_stats(), gc.callbacks) == (before, hooks)
        gc.collect()
        gc.collect(0)
        assert meter.read().collections == 2
    finally:
        gc.enable()


def test_loading_and_asking_imports_nothing_heavy() -> None:
    code = (
        "import sys; from ipyjaxbench.host.conditions import Meter, describe_machine;"
        "from ipyjaxbench.host.clock import Clock; Meter(Clock.elapsed()).read();"
        "describe_machine();"
        "print([m for m in ('numpy', 'psutil', 'msgspec', 'pynvml') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ("[]" if platform.system() == "Linux" else "['psutil']")


# The record

FULL = Conditions(
    wall=2.0, cpu=1.5, cpus=4, usable=2, busy=3.0, waited=0.5, pressure=0.25, throttles=3,
    throttled=0.125, steal=0.0, switches=7, collections=1,
)  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [{"wall": -1.0}, {"cpu": float("nan")}, {"waited": float("inf")}, {"throttles": -1},
     {"cpus": 0, "usable": 0}, {"usable": 0}, {"usable": 5}],
    ids=str,
)  # fmt: skip
def test_facts_that_cannot_be_true_are_told(change: dict[str, float]) -> None:
    assert msgspec.json.decode(msgspec.json.encode(FULL), type=Conditions) == FULL
    assert FULL.check() is Conditions(1.0, 0.5, 2, 2).check() is None
    assert dataclasses.replace(FULL, cpus=1, usable=1).check() is None
    assert dataclasses.replace(FULL, **change).check() is not None


@pytest.mark.parametrize(
    ("facts", "others", "taken"),
    [({"busy": None, "steal": None}, None, 0.0), ({"busy": 3.5}, 2.0, 0.25),
     ({"busy": None, "steal": 1.0}, None, 0.125), ({"busy": 3.5, "steal": 1.0}, 2.0, 0.375),
     ({"busy": 1.4}, 0.0, 0.0)],  # counted in hundredths, and this process's own precisely
)  # fmt: skip
def test_what_was_taken_is_a_share(
    facts: dict[str, float], others: float | None, taken: float
) -> None:
    """By other programs and the hypervisor, of four CPUs in two seconds."""
    found = dataclasses.replace(FULL, **facts)
    assert (found.others, found.taken) == (others, taken)


def test_the_environment_is_plain_facts_and_does_not_name_the_machine(tree: Tree) -> None:
    told = describe_machine()
    assert list(told) == [
        *("platform", "python", "implementation"),
        *("cpu", "cpus", "usable_cpus", "cpu_quota", "memory", "memory_limit"),
    ]
    assert msgspec.json.decode(msgspec.json.encode(told)) == told
    assert told["python"] == platform.python_version()
    assert all(platform.node() != value for value in told.values())
    assert isinstance(told["memory"], int)
    tree.write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU @ 3 GHz\nflags\t: a b\n")
    tree.write("proc/meminfo", "MemTotal:       24684092 kB\nMemFree:        1 kB\n")
    told = describe_machine(tree.root)
    assert (told["cpu"], told["memory"]) == ("Some CPU @ 3 GHz", 24_684_092 * 1024)
