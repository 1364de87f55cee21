"""What this machine tells, and what it tells under real load."""

import dataclasses
import gc
import os
import platform
import subprocess
import sys
import time
from typing import NamedTuple

import msgspec
import pytest

from ipyjaxbench.host.conditions import Conditions, Meter, describe_machine
from ipyjaxbench.testing import FakeClock
from tests.trees import Tree


def pretend_to_be(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(platform, "system", lambda: name)


def test_wall_time_is_the_clocks_and_counts_from_the_start() -> None:
    clock = FakeClock()
    meter = Meter(clock)
    for seconds in (2.5, 5.0):
        clock.advance(2_500_000_000)
        assert meter.read().wall == seconds


@pytest.mark.parametrize("name", ["Darwin", "Windows"])
def test_other_systems_tell_what_psutil_knows(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    here = describe_machine()["memory"]
    pretend_to_be(monkeypatch, name)
    seen = tree.meter().read()
    assert describe_machine(tree.root)["memory"] == here
    assert seen.busy is not None
    assert seen.usable == seen.cpus
    assert (seen.pressure, seen.waited, seen.steal, seen.throttles) == (None,) * 4
    assert (seen.switches is None) == (name == "Windows")


class Times(NamedTuple):
    """CPU times of a system that has them, as psutil gives them."""

    user: float
    system: float
    idle: float


class NiceTimes(NamedTuple):
    """The same where programs may be nice."""

    user: float
    nice: float
    system: float
    idle: float


@pytest.mark.parametrize(
    ("before", "after", "busy"),
    [(Times(1, 2, 50), Times(4, 8, 90), 9.0), (NiceTimes(1, 1, 2, 50), NiceTimes(4, 6, 8, 90), 14)],
)
def test_busy_elsewhere_is_user_and_system_and_nice_time(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, before: Times, after: Times, busy: float
) -> None:
    import psutil

    pretend_to_be(monkeypatch, "Darwin")
    readings = iter([before, after])
    monkeypatch.setattr(psutil, "cpu_times", lambda: next(readings))
    assert tree.meter().read().busy == busy


def test_where_cpus_cannot_be_counted_there_is_one(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    seen = tree.meter().read()
    assert (seen.cpus, seen.usable) == (1, 1)


# This process, on this machine


def test_no_more_cpu_time_is_counted_than_was_spent() -> None:
    before = time.process_time()
    meter = Meter(FakeClock())
    sum(range(1_000_000))
    seen = meter.read()
    assert 0 < seen.cpu <= time.process_time() - before
    assert 1 <= seen.usable <= seen.cpus == os.cpu_count()
    assert msgspec.json.decode(msgspec.json.encode(seen), type=Conditions) == seen
    assert seen.check() is None


def test_collections_are_counted_whether_they_are_automatic_or_asked_for() -> None:
    gc.disable()
    try:
        meter = Meter(FakeClock())
        assert meter.read().collections == 0
        gc.collect()
        gc.collect(0)
        assert meter.read().collections == 2
    finally:
        gc.enable()


def test_looking_leaves_no_callback_and_collects_nothing() -> None:
    before, hooks = gc.get_stats(), list(gc.callbacks)
    gc.disable()
    try:
        Meter(FakeClock()).read()
        after = gc.get_stats()
    finally:
        gc.enable()
    assert (after, gc.callbacks) == (before, hooks)


BURN = "import time\nend = time.monotonic() + 20\nwhile time.monotonic() < end: pass"


def test_programs_that_keep_all_cpus_busy_are_seen() -> None:
    """Two for each CPU: whatever else runs, this process must wait for one."""
    commands = [[sys.executable, "-S", "-c", BURN]] * (2 * (os.cpu_count() or 1))
    quiet = Meter(FakeClock()).read()
    burners: list[subprocess.Popen[bytes]] = []
    try:
        burners += (subprocess.Popen(command) for command in commands)
        meter = Meter(FakeClock())
        end = time.process_time() + 0.2
        while time.process_time() < end:
            sum(range(10_000))
        seen = meter.read()
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
    for told in ("busy", "waited", "pressure"):
        if getattr(quiet, told) is not None:
            assert getattr(seen, told) > 0.05, told
    if quiet.busy is not None:
        assert seen.others is not None
        assert seen.others > 0.05


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


@pytest.mark.parametrize("conditions", [FULL, Conditions(1.0, 0.5, 2, 2)], ids=["full", "bare"])
def test_conditions_survive_json(conditions: Conditions) -> None:
    packed = msgspec.json.encode(conditions)
    assert msgspec.json.decode(packed, type=Conditions) == conditions


@pytest.mark.parametrize(
    "change",
    [{"wall": -1.0}, {"cpu": float("nan")}, {"waited": float("inf")}, {"throttles": -1},
     {"cpus": 0, "usable": 0}, {"usable": 0}, {"usable": 5}],
    ids=str,
)  # fmt: skip
def test_facts_that_cannot_be_true_are_told(change: dict[str, float]) -> None:
    assert FULL.check() is None
    assert dataclasses.replace(FULL, cpus=1, usable=1).check() is None
    assert dataclasses.replace(FULL, **change).check() is not None


def test_others_are_never_less_than_nothing() -> None:
    """Linux counts the CPU time of all programs in hundredths, and that of one precisely."""
    assert dataclasses.replace(FULL, busy=1.4).others == 0.0
    assert dataclasses.replace(FULL, busy=None).others is None


@pytest.mark.parametrize(
    ("facts", "taken"),
    [
        ({"busy": None, "steal": None}, 0.0),
        ({"busy": 3.5}, 0.25),
        ({"busy": None, "steal": 1.0}, 0.125),
        ({"busy": 3.5, "steal": 1.0}, 0.375),
    ],
)
def test_what_was_taken_is_a_share_of_all_cpus(facts: dict[str, float], taken: float) -> None:
    """By other programs and the hypervisor, of four CPUs in two seconds."""
    assert dataclasses.replace(FULL, **facts).taken == taken


def test_the_environment_is_plain_facts_and_does_not_name_the_machine() -> None:
    told = describe_machine()
    assert list(told) == [
        *("platform", "python", "implementation"),
        *("cpu", "cpus", "usable_cpus", "cpu_quota", "memory", "memory_limit"),
    ]
    assert msgspec.json.decode(msgspec.json.encode(told)) == told
    assert told["python"] == platform.python_version()
    assert all(platform.node() != value for value in told.values())
    assert isinstance(told["memory"], int)


def test_the_environment_reads_the_cpus_name(tree: Tree) -> None:
    tree.write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU @ 3 GHz\nflags\t: a b\n")
    tree.write("proc/meminfo", "MemTotal:       24684092 kB\nMemFree:        1 kB\n")
    told = describe_machine(tree.root)
    assert told["cpu"] == "Some CPU @ 3 GHz"
    assert told["memory"] == 24_684_092 * 1024
