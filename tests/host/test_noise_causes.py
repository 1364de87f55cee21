"""From what the machine did to short phrases."""

import dataclasses
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ipyjaxbench.host.conditions import Conditions
from ipyjaxbench.host.noise_causes import causes
from ipyjaxbench.host.nvml import Gpu

QUIET = Conditions(
    wall=2.0,
    cpu=1.0,
    cpus=2,
    usable=2,
    busy=1.02,
    waited=0.01,
    pressure=0.01,
    throttles=0,
    throttled=0.0,
    steal=0.0,
    switches=20,
    collections=0,
)
H100 = Gpu("NVIDIA H100", clock=1980, max_clock=1980, ours=True, others=0)
BUSY = "other programs kept 1.5 of 2 CPUs busy (the code waited for a CPU 47 % of the time)"
USED = "other programs used {} of 2 CPUs (the code waited for a CPU {} % of the time)"
THREADS = (
    "the code runs more threads than there are CPUs (the code waited for a CPU 50 % of the time)"
)


def causes_of(**changes: Any) -> list[str]:
    return causes(dataclasses.replace(QUIET, **changes))


def test_nothing_is_said_of_a_quiet_machine() -> None:
    assert causes_of() == []


def test_nothing_is_said_where_nothing_is_told() -> None:
    assert causes(Conditions(wall=2.0, cpu=1.0, cpus=2, usable=2)) == []


@pytest.mark.parametrize(("wall", "phrases"), [(0.04, 0), (0.06, 1)])
def test_too_short_a_time_says_nothing_of_causes(wall: float, phrases: int) -> None:
    """Counters that rise in steps show nothing of less than a twentieth of a second."""
    assert len(causes_of(wall=wall, cpu=0.0, busy=0.0, waited=0.0, collections=1)) == phrases


# CPUs that others use


def test_programs_that_keep_the_cpus_busy_are_named() -> None:
    assert causes_of(cpu=1.0, busy=4.0, waited=0.9) == [BUSY]


def test_programs_that_use_a_little_are_named_more_mildly() -> None:
    assert causes_of(cpu=1.8, busy=2.0, waited=0.2) == [
        "other programs used 0.10 of 2 CPUs (the code waited for a CPU 10 % of the time)"
    ]


def test_programs_on_cpus_that_nobody_lacked_are_not_named() -> None:
    """One thread beside one other program on two CPUs: measured, it is not slowed down."""
    assert causes_of(cpu=2.0, busy=4.0, waited=0.01, pressure=1.5) == []


def test_pressure_on_other_programs_is_not_this_ones() -> None:
    """Code that mostly sleeps, as when it waits for a GPU, does not suffer from a full machine."""
    assert causes_of(cpu=0.02, busy=4.0, waited=0.02, pressure=1.7) == []


@pytest.mark.parametrize(
    ("cpu", "busy", "waited", "pressure"),
    [
        (3.98, 3.99, 0.02, 0.02),  # NumPy, a product of 2000 x 2000
        (3.64, 3.64, 0.10, 0.06),  # JAX, 500 x 500
        (3.66, 3.66, 0.79, 0.40),  # TensorFlow, 1000 x 1000
    ],
)
def test_threads_that_share_the_cpus_of_a_quiet_machine_are_no_cause(
    cpu: float, busy: float, waited: float, pressure: float
) -> None:
    """Measured on two CPUs with nothing beside."""
    assert causes_of(cpu=cpu, busy=busy, waited=waited, pressure=pressure) == []


@pytest.mark.parametrize(
    ("cpu", "busy", "waited"),
    [
        (2.60, 4.0, 1.40),  # NumPy, 200 x 200, beside one program
        (2.44, 3.94, 1.62),  # JAX, 2000 x 2000, beside one program
        (2.04, 3.06, 2.04),  # JAX, 500 x 500, beside one program
        (1.00, 4.0, 2.52),  # TensorFlow, 1000 x 1000, beside three programs
        (1.45, 4.0, 4.18),  # four threads that hash, beside one program
    ],
)
def test_threads_beside_other_programs_blame_those(cpu: float, busy: float, waited: float) -> None:
    """Measured on two CPUs."""
    (cause,) = causes_of(cpu=cpu, busy=busy, waited=waited)
    assert cause.startswith("other programs kept")


def test_a_crowd_of_threads_beside_other_programs_is_not_all_there_is() -> None:
    found = causes_of(cpu=1.9, busy=2.7, waited=4.0)
    assert found == [
        "other programs used 0.40 of 2 CPUs (the code waited for a CPU 68 % of the time)"
    ]


def test_more_threads_than_cpus_are_its_own_doing() -> None:
    """Measured: four threads that hash, on two CPUs with nothing beside."""
    assert causes_of(cpu=3.8, busy=3.75, waited=3.8) == [THREADS]


def test_what_this_process_used_of_its_own_cpus_nobody_took_from_it() -> None:
    """Bound to one CPU with two threads, while others use the other CPUs."""
    assert causes_of(cpus=4, usable=1, cpu=2.0, busy=8.0, waited=2.0) == [THREADS]


def test_others_are_not_more_cpus_than_there_are() -> None:
    (cause,) = causes_of(cpu=0.5, busy=4.8, waited=1.5)
    assert cause.startswith("other programs kept 2.0 of 2 CPUs busy")


def test_a_few_hundredths_are_too_coarse_to_blame_others() -> None:
    assert causes_of(wall=0.1, cpu=0.08, busy=0.10, waited=0.02) == []


@pytest.mark.parametrize(("waited", "said"), [(0.1, False), (0.11, True)])
def test_waiting_counts_beyond_a_twentieth_of_the_time(waited: float, *, said: bool) -> None:
    assert bool(causes_of(cpu=1.0, busy=2.0, waited=waited)) is said


@pytest.mark.parametrize(
    ("cpu", "busy", "waited", "expected"),
    [
        (1.0, 1.09, 0.12, []),
        (1.0, 1.11, 0.12, [USED.format("0.055", 11)]),
        (0.3, 0.36, 0.2, []),  # a third of the waiting is theirs: neither they nor its own threads
        (0.3, 0.34, 0.2, [THREADS.replace("50 %", "40 %")]),
        (3.0, 3.2, 3.0, [THREADS]),
        (3.0, 3.4, 3.0, [USED.format("0.20", 50)]),
    ],
)
def test_what_others_used_counts_beyond_its_limits(
    cpu: float, busy: float, waited: float, expected: list[str]
) -> None:
    """A twentieth of the time, a quarter of the waiting, and 0.15 of a CPU."""
    assert causes_of(cpu=cpu, busy=busy, waited=waited) == expected


@pytest.mark.parametrize("told", ["waited", "pressure"])
def test_a_little_waiting_beside_much_work_names_nobody(told: str) -> None:
    """Others had less than a quarter of it, and it is less than a fifth of the time."""
    found = causes_of(cpus=4, usable=4, cpu=5.5, busy=5.81, **{"waited": None, told: 1.3})
    assert found == []


# Where the waiting of threads is not told


def test_pressure_and_the_cpu_time_of_others_tell_it_together() -> None:
    found = causes_of(cpu=1.0, busy=4.0, waited=None, pressure=1.2)
    assert found == ["other programs kept 1.5 of 2 CPUs busy"]


def test_pressure_alone_blames_nobody() -> None:
    assert causes_of(cpu=3.6, busy=3.6, waited=None, pressure=1.2) == []
    assert causes_of(cpu=1.0, busy=None, waited=None, pressure=1.2) == []


@pytest.mark.parametrize(("busy", "said"), [(4.0, True), (3.0, False)])
def test_without_pressure_all_cpus_must_have_been_taken(busy: float, *, said: bool) -> None:
    """As on macOS and Windows."""
    found = causes_of(cpu=1.0, busy=busy, waited=None, pressure=None)
    assert found == (["other programs kept 1.5 of 2 CPUs busy"] if said else [])


# Quota, hypervisor, garbage


def test_a_quota_that_stopped_it_is_named() -> None:
    (cause,) = causes_of(throttles=12, throttled=0.4)
    assert cause == "the container's CPU quota paused it 12 times, 400 ms in total"


def test_one_stop_whose_length_is_not_told_is_named() -> None:
    (cause,) = causes_of(throttles=1, throttled=None)
    assert cause == "the container's CPU quota paused it 1 time"


def test_waiting_under_a_quota_is_the_quotas() -> None:
    """Measured: two threads under a quota of half a CPU."""
    found = causes_of(cpu=1.0, busy=3.65, waited=4.49, throttles=20, throttled=1.07)
    assert found == ["the container's CPU quota paused it 20 times, 1.1 s in total"]


def test_a_slight_quota_does_not_hide_other_programs() -> None:
    found = causes_of(cpu=1.0, busy=4.0, waited=0.95, throttles=1, throttled=0.05)
    assert found == [BUSY, "the container's CPU quota paused it 1 time, 50 ms in total"]


@pytest.mark.parametrize(
    ("steal", "expected"),
    [
        (None, []),
        (0.04, []),
        (0.24, ["the hypervisor took 6.0 % of the CPU time (steal)"]),
        (4.1, ["the hypervisor took 100 % of the CPU time (steal)"]),
    ],
)
def test_steal_counts_beyond_one_percent(steal: float | None, expected: list[str]) -> None:
    assert causes_of(steal=steal) == expected


def test_one_tick_of_steal_in_a_short_time_is_not_named() -> None:
    assert causes_of(wall=0.2, cpu=0.1, busy=0.1, waited=0.0, steal=0.01) == []


@pytest.mark.parametrize(("ran", "times"), [(1, "1 time"), (3, "3 times")])
def test_garbage_collections_are_named(ran: int, times: str) -> None:
    assert causes_of(collections=ran) == [f"Python's garbage collector ran {times}"]


# GPUs


def throttled(**changes: Any) -> Gpu:
    return dataclasses.replace(H100, clock=1208, reasons=("power cap",), **changes)


def test_a_gpu_at_full_clocks_is_no_cause() -> None:
    assert causes_of(gpus=(H100,)) == []
    assert causes_of(gpus=(dataclasses.replace(H100, clock=345, reasons=("idle",)),)) == []


def test_clocks_that_fell_are_named_with_the_reasons() -> None:
    assert causes_of(gpus=(throttled(),)) == [
        "the GPU clock dropped to 61 % of its maximum (power cap)"
    ]
    both = dataclasses.replace(throttled(), reasons=("idle", "power cap", "heat"))
    assert causes_of(gpus=(both,)) == [
        "the GPU clock dropped to 61 % of its maximum (power cap, heat)"
    ]


@pytest.mark.parametrize("clocks", [{"clock": None}, {"max_clock": None}, {"clock": 1980}])
def test_clocks_that_are_not_told_or_full_are_said_to_be_held_down(clocks: dict[str, Any]) -> None:
    gpu = dataclasses.replace(throttled(), **clocks)
    assert causes_of(gpus=(gpu,)) == ["the GPU clock was limited (power cap)"]


@pytest.mark.parametrize(
    ("others", "said"), [(1, "1 other process uses the GPU"), (2, "2 other processes use the GPU")]
)
def test_other_processes_on_the_gpu_are_named(others: int, said: str) -> None:
    assert causes_of(gpus=(dataclasses.replace(H100, others=others),)) == [said]


def test_only_the_gpus_that_this_process_uses_count() -> None:
    idle = dataclasses.replace(H100, ours=False, others=1)
    hot = throttled(ours=False)
    assert causes_of(gpus=(hot, H100, idle)) == []
    assert causes_of(gpus=(idle, throttled())) == [
        "the GPU 1 clock dropped to 61 % of its maximum (power cap)"
    ]


def test_which_of_several_gpus_is_used_is_never_guessed() -> None:
    unknown = throttled(ours=None)
    assert causes_of(gpus=(unknown, unknown)) == []
    assert causes_of(gpus=(unknown,)) == [
        "the GPU clock dropped to 61 % of its maximum (power cap)"
    ]


# All together


def test_the_weightiest_comes_first() -> None:
    found = causes_of(
        cpu=1.0,
        busy=4.0,
        waited=0.95,
        throttles=1,
        throttled=0.05,
        steal=0.24,
        collections=3,
        gpus=(throttled(others=1),),
    )
    assert found == [
        BUSY,
        "the GPU clock dropped to 61 % of its maximum (power cap)",
        "the hypervisor took 6.0 % of the CPU time (steal)",
        "the container's CPU quota paused it 1 time, 50 ms in total",
        "1 other process uses the GPU",
        "Python's garbage collector ran 3 times",
    ]


AMOUNT = st.floats(0, 1e300)
TOLD = st.none() | AMOUNT
COUNTS = st.none() | st.integers(0, 10**18)
GPUS = st.builds(Gpu, st.text(), COUNTS, COUNTS, st.just(("heat",)), st.booleans(), COUNTS)


@given(
    st.builds(
        Conditions,
        wall=AMOUNT,
        cpu=AMOUNT,
        cpus=st.integers(1, 10**6),
        usable=st.just(1),
        busy=TOLD,
        waited=TOLD,
        pressure=TOLD,
        throttles=COUNTS,
        throttled=TOLD,
        steal=TOLD,
        switches=COUNTS,
        collections=COUNTS,
        gpus=st.tuples(GPUS) | st.just(()),
    )
)
def test_every_record_that_makes_sense_has_its_phrases(conditions: Conditions) -> None:
    assert conditions.check() is None
    assert all(len(phrase.splitlines()) == 1 for phrase in causes(conditions))
