"""What differs around two measurements, as far as both are known."""

import dataclasses
import os
import platform

import pytest

from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.host import Conditions, Gpu
from ipyjaxbench.records.environment import Environment
from tests.results import STEADY, measured

HERE = Environment(
    python="3.11.7", frameworks={"jax": "0.10.2", "python": "3.11"}, devices=("jax cuda:0",),
    cpu="A CPU", cpus=8, gpus=("H100",), revision="c0ffee" * 6, data={"x": "f32[3]"},
)  # fmt: skip


def test_what_is_not_known_of_one_of_them_differs_in_nothing() -> None:
    assert Environment().differences(HERE) == ()
    assert HERE.differences(Environment()) == ()
    assert HERE.differences(HERE) == ()
    one, other = Environment(cpus=2), Environment(cpus=4)  # of an unknown CPU the number tells
    assert one.differences(other) == ("machine 2 × CPU → 4 × CPU",)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("python", "3.12.1", "Python 3.11.7 → 3.12.1"),
        ("frameworks", {"jax": "0.11.0", "python": "3.12"}, "jax 0.10.2 → 0.11.0"),
        ("devices", ("jax cpu:0",), "jax cuda:0 → jax cpu:0"),
        ("cpus", 4, "machine 8 × A CPU → 4 × A CPU"),
        ("gpus", ("A100",), "H100 → A100"),
        ("revision", "deadbeef", "git c0ffeec → deadbee"),
        ("data", {"x": "f32[4]", "y": "f32[]"}, "x f32[3] → f32[4]"),
    ],
)
def test_what_differs_is_named(name: str, value: object, words: str) -> None:
    assert HERE.differences(dataclasses.replace(HERE, **{name: value})) == (words,)


def test_gpus_that_others_use_alone_are_left_out() -> None:
    gpus = (Gpu("H100", ours=True), Gpu("A100", ours=False), Gpu("L4"))
    conditions = Conditions(wall=1.0, cpu=1.0, cpus=2, usable=2, gpus=gpus, model="A CPU")
    around = Environment.saved(measured(STEADY, conditions=conditions), "3.11")
    assert (around.gpus, around.cpu, around.cpus) == (("H100", "L4"), "A CPU", 2)
    assert around.python == "3.11"
    around = Environment.saved(measured(STEADY, conditions=None))
    assert (around.gpus, around.cpu, around.cpus, around.python) == ((), "", 0, "")


def test_a_measurement_of_this_machine_knows_it() -> None:
    places = [Placement(f"x{n}", "jax", 1, "float32", (n,), ("cpu:0",), 4 * n) for n in range(9)]
    result = Placement("", "jax", 1, "float32", (3,), ("cuda:0",), 12)
    around = Environment.here(measured(STEADY, inputs=tuple(places), outputs=(result,)), "c0ffee")
    assert (around.python, around.cpus) == (platform.python_version(), os.cpu_count())
    assert (around.revision, around.frameworks) == ("c0ffee", {"python": "3.12"})
    assert around.devices == ("cpu:0", "cuda:0")
    assert around.data == {f"x{n}": f"f32[{n}]" for n in range(8)}  # the first ones
