"""From what the machine did to short phrases."""

import dataclasses
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ipyjaxbench.host.conditions import Conditions
from ipyjaxbench.host.noise_causes import causes
from ipyjaxbench.host.nvml import Gpu

QUIET = Conditions(
    wall=2.0, cpu=1.0, cpus=2, usable=2, busy=1.02, waited=0.01, pressure=0.01, throttles=0,
    throttled=0.0, steal=0.0, switches=20, collections=0,
)  # fmt: skip
H100 = Gpu("NVIDIA H100", clock=1980, max_clock=1980, ours=True, others=0)
KEPT = "other programs kept 1.5 of 2 CPUs busy"
BUSY = f"{KEPT} (the code waited for a CPU 47 % of the time)"
THREADS = (
    "the code runs more threads than there are CPUs (the code waited for a CPU 50 % of the time)"
)


def causes_of(**changes: Any) -> list[str]:
    return causes(dataclasses.replace(QUIET, **changes))


QUOTA = "the container's CPU quota paused it"
STEAL = "the hypervisor took {} % of the CPU time (steal)"
SLOWER = "the GPU clock dropped to 61 % of its maximum (power cap)"


def used(cpus: str, waited: float) -> str:
    share = f"(the code waited for a CPU {waited} % of the time)"
    return f"other programs used {cpus} of 2 CPUs {share}"


def throttled(**changes: Any) -> Gpu:
    return dataclasses.replace(H100, **{"clock": 1208, "reasons": ("power cap",), **changes})


@pytest.mark.parametrize(("wall", "phrases"), [(0.04, 0), (0.06, 1)])
def test_too_short_a_time_says_nothing_of_causes(wall: float, phrases: int) -> None:
    """Counters that rise in steps show nothing of less than a twentieth of a second."""
    assert causes(Conditions(wall=2.0, cpu=1.0, cpus=2, usable=2)) == []  # nothing is told
    assert len(causes_of(wall=wall, cpu=0.0, busy=0.0, waited=0.0, collections=1)) == phrases


@pytest.mark.parametrize(
    ("cpu", "busy", "waited", "expected"),
    [(1.0, 4.0, 0.9, BUSY), (1.8, 2.0, 0.2, used("0.10", 10)),
     (2.0, 4.0, 0.01, ""),  # CPUs that nobody lacked
     # Waiting counts beyond a twentieth of the time.
     (1.0, 2.0, 0.1, ""), (1.0, 2.0, 0.11, used("0.50", 9.9)),
     # What others used does beyond a twentieth of the time, a quarter of the waiting, 0.15 CPUs.
     (1.0, 1.09, 0.12, ""), (1.0, 1.11, 0.12, used("0.055", 11)),
     (0.3, 0.36, 0.2, ""),  # a third of the waiting is theirs: neither they nor its own threads
     (0.3, 0.34, 0.2, THREADS.replace("50 %", "40 %")), (3.0, 3.2, 3.0, THREADS),
     (3.0, 3.4, 3.0, used("0.20", 50)),
     # Measured: NumPy, 2000 x 2000, and TensorFlow, 1000 x 1000, alone ...
     (3.98, 3.99, 0.02, ""), (3.66, 3.66, 0.79, ""),
     # ... and JAX beside one program, TensorFlow beside three, threads that hash beside one,
     (2.04, 3.06, 2.04, "other programs kept 0.51 of 2 CPUs busy"),
     (1.00, 4.0, 2.52, "other programs kept 1.5 of 2 CPUs busy"),
     (1.45, 4.0, 4.18, "other programs kept 1.3 of 2 CPUs busy"),
     (3.8, 3.75, 3.8, THREADS),  # and with nothing beside.
     (1.9, 2.7, 4.0, used("0.40", 68)),
     (0.5, 4.8, 1.5, "other programs kept 2.0 of 2 CPUs busy")],  # not more than there are
)  # fmt: skip
def test_others_are_named_where_their_cpu_time_explains_the_waiting(
    cpu: float, busy: float, waited: float, expected: str
) -> None:
    found = causes_of(cpu=cpu, busy=busy, waited=waited, pressure=0.4)
    assert [each.startswith(expected) for each in found] == [True] * bool(expected)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"cpu": 0.02, "busy": 4.0, "waited": 0.02, "pressure": 1.7}, []),  # that of others
        ({"cpus": 4, "usable": 1, "cpu": 2.0, "busy": 8.0, "waited": 2.0}, [THREADS]),  # bound
        ({"wall": 0.1, "cpu": 0.08, "busy": 0.10, "waited": 0.02}, []),  # counted in hundredths
        # Less than a quarter of a little waiting beside much work.
        ({"cpus": 4, "usable": 4, "cpu": 5.5, "busy": 5.81, "waited": 1.3}, []),
        ({"cpus": 4, "usable": 4, "cpu": 5.5, "busy": 5.81, "waited": None, "pressure": 1.3}, []),
        # Where the waiting of threads is not told: pressure, with the CPU time of others, ...
        ({"busy": 4.0, "waited": None, "pressure": 1.2}, [KEPT]),
        ({"cpu": 3.6, "busy": 3.6, "waited": None, "pressure": 1.2}, []),
        ({"busy": None, "waited": None, "pressure": 1.2}, []),
        # ... or all CPUs that are taken, as on macOS and Windows.
        ({"busy": 4.0, "waited": None, "pressure": None}, [KEPT]),
        ({"busy": 3.0, "waited": None, "pressure": None}, []),
        ({"throttles": 12, "throttled": 0.4}, [f"{QUOTA} 12 times, 400 ms in total"]),
        ({"throttles": 1, "throttled": None}, [f"{QUOTA} 1 time"]),
        # Measured: two threads under a quota of half a CPU.
        ({"busy": 3.65, "waited": 4.49, "throttles": 20, "throttled": 1.07},
         [f"{QUOTA} 20 times, 1.1 s in total"]),
        ({"steal": None}, []),
        ({"steal": 0.04}, []),  # one percent
        ({"steal": 0.24}, [STEAL.format("6.0")]),
        ({"steal": 4.1}, [STEAL.format("100")]),
        ({"wall": 0.2, "cpu": 0.1, "busy": 0.1, "waited": 0.0, "steal": 0.01}, []),  # one tick
        ({"collections": 1}, ["Python's garbage collector ran 1 time"]),
        ({"gpus": (H100,)}, []),
        ({"gpus": (throttled(clock=345, reasons=("idle",)),)}, []),
        ({"gpus": (throttled(),)}, [SLOWER]),
        ({"gpus": (throttled(reasons=("idle", "power cap", "heat")),)},
         [SLOWER.replace("cap", "cap, heat")]),
        ({"gpus": (throttled(clock=None),)}, ["the GPU clock was limited (power cap)"]),
        ({"gpus": (throttled(max_clock=None),)}, ["the GPU clock was limited (power cap)"]),
        ({"gpus": (throttled(clock=1980),)}, ["the GPU clock was limited (power cap)"]),
        ({"gpus": (dataclasses.replace(H100, others=1),)}, ["1 other process uses the GPU"]),
        ({"gpus": (dataclasses.replace(H100, others=2),)}, ["2 other processes use the GPU"]),
        # Only those that this process uses count, and which of several that is is never guessed.
        ({"gpus": (throttled(ours=False, others=1), H100)}, []),
        ({"gpus": (throttled(ours=False), throttled())}, [SLOWER.replace("GPU", "GPU 1")]),
        ({"gpus": (throttled(ours=None), throttled(ours=None))}, []),
        ({"gpus": (throttled(ours=None),)}, [SLOWER]),
    ],
)  # fmt: skip
def test_what_the_machine_did_is_named(changes: dict[str, Any], expected: list[str]) -> None:
    assert causes_of(**changes) == expected


def test_the_weightiest_comes_first() -> None:
    found = causes_of(
        busy=4.0, waited=0.95, throttles=1, throttled=0.05, steal=0.24, collections=3,
        gpus=(throttled(others=1),),
    )  # fmt: skip
    assert found == [
        *(BUSY, SLOWER, STEAL.format("6.0"), f"{QUOTA} 1 time, 50 ms in total"),
        *("1 other process uses the GPU", "Python's garbage collector ran 3 times"),
    ]


AMOUNT = st.floats(0, 1e300)
TOLD = st.none() | AMOUNT
COUNTS = st.none() | st.integers(0, 10**18)
GPUS = st.builds(Gpu, st.text(), COUNTS, COUNTS, st.just(("heat",)), st.booleans(), COUNTS)


@given(
    st.builds(
        Conditions,
        wall=AMOUNT, cpu=AMOUNT, cpus=st.integers(1, 10**6), usable=st.just(1), busy=TOLD,
        waited=TOLD, pressure=TOLD, throttles=COUNTS, throttled=TOLD, steal=TOLD, switches=COUNTS,
        collections=COUNTS, gpus=st.tuples(GPUS) | st.just(()),
    )
)  # fmt: skip
def test_every_record_that_makes_sense_has_its_phrases(conditions: Conditions) -> None:
    assert conditions.check() is None
    assert all(len(phrase.splitlines()) == 1 for phrase in causes(conditions))
