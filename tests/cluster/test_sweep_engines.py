"""`%%fwcompare --sweep engines=1,2` on real engines of ipyparallel."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ipyjaxbench import Sweep
from ipyjaxbench.cluster.dependence import depends
from ipyjaxbench.cluster.job_measurement import JobMeasurement, RankMeasurement
from ipyjaxbench.cluster.sweep_engines import _options_per_measurement, _Reached
from ipyjaxbench.comparison.options import CompareOptions
from ipyjaxbench.comparison.scaling import Scaling
from tests.cluster.engines import press_ctrl_c_when_reached
from tests.cluster.typed import Shells, refused, shown, works
from tests.results import measured
from tests.shell import Shell

MS = 10**6
#: Few calls of each arm, so that a test takes little time.
SHORT = "-n 1 -r 8 -v found"
COLLECTIVE = """
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
those = [each for each in jax.devices() if each.process_index < engines]
rows = NamedSharding(Mesh(np.array(those), ("d",)), PartitionSpec("d"))
whole = np.ones((96, 64), np.float32)
x = jax.make_array_from_callback(whole.shape, rows, whole.__getitem__, dtype=whole.dtype)
summed = jax.jit(lambda x: x.sum())
sum: summed(x) if rank < engines else None
"""


@pytest.fixture
def two(started: Callable[[str], Any]) -> Any:
    """Two engines, each by itself."""
    client = started("alone")
    client[:].execute("import time, random", block=True)
    return client


@pytest.fixture
def run(two: Any, shell: Shell) -> Shell:
    """A shell that knows them."""
    shell.names["rc"] = two
    return shell


def found(shell: Shell) -> Sweep:
    sweep = shell.names["found"]
    assert isinstance(sweep, Sweep)
    return sweep


def ask(view: Any, expression: str) -> list[Any]:
    """What an expression is on each engine, in its own names."""
    view.execute(f"answer = {expression}", block=True)
    answers: list[Any] = view.pull("answer", block=True)
    return answers


def test_each_point_is_timed_on_the_first_engines_and_the_slowest_counts(run: Shell) -> None:
    run.run(
        f"%%fwcompare --sweep engines=2,1 {SHORT}\na: time.sleep(0.03 * (rank == 1))\n"
        "own: time.sleep(0.02 / engines)"
    )
    sweep = found(run)
    assert [point.values for point in sweep.points] == [("1",), ("2",)]
    assert sweep.scaling == Scaling({"a": "weak", "own": "strong"}, reads=("own",))
    assert [(t >= 0.03, n) for n, t in sweep.times("a")] == [(False, 1), (True, 2)]
    assert all(t >= 0.02 / n for n, t in sweep.times("own"))
    side = sweep.points[0].compared.sides[0]
    assert side.measured is not None
    assert len(side.measured.batches) == 2 * 7  # two rounds; of eight samples one is the first call
    text = shown(run)
    assert "weak each engine does the same work (a): the code does not read engines;" in text
    assert "engines n at the same time, each by itself" in text
    assert Sweep.from_dict(sweep.to_dict()) == sweep
    run.run(
        f"%%fwcompare --sweep engines=1,2 --scaling weak {SHORT}\n"
        "seconds = 0.002 / engines\na: time.sleep(seconds)"
    )
    assert found(run).scaling == Scaling({"a": "weak"}, reads=("a",))
    run.run(f"%%fwcompare --sweep engines=1 --engines 1 {SHORT}\na: 1 / rank")  # not on engine 0
    assert [n for n, _ in found(run).times("a")] == [1]


def test_names_and_random_numbers_of_engines_stay_as_they_were(run: Shell, two: Any) -> None:
    two[:].execute(
        "engines = 'mine'; kept = 1; random.seed(3); drawn = random.getstate()", block=True
    )
    two[1].execute("del engines", block=True)
    run.run(
        f"%%fwcompare --sweep engines=1,2 {SHORT}\n"
        "kept = made = engines\nsetup a: again = made\na: out = (again, random.random())"
    )
    names = ("engines", "kept", "made", "again", "out")
    left = ask(two[:], f"[globals().get(name, 'none') for name in {names}]")
    assert left == [["mine", 1, "none", "none", "none"], ["none", 1, "none", "none", "none"]]
    assert ask(two[:], "random.getstate() == drawn") == [True, True]
    two[:].execute("globals().pop('engines', None)", block=True)


@pytest.mark.parametrize(
    ("typed", "arms", "told"),
    [
        ("--sweep engines=1,5", "a: 1 + rank", ".*5 is no number of engines from 1 to 2, which a"),
        ("--sweep engines=0,1.5", "a: 1 + rank", ".*0 is no number of engines from 1 to 2"),
        ("--sweep engines=many", "a: 1 + rank", ".*'many' is no number of engines"),
        ("--sweep engines=1,2 --sweep n=1", "a: n", ".*cannot be combined with another --sweep"),
        ("--sweep engines=1,2 --keep-going", "a: 1", "--keep-going works in one process alone"),
        ("--sweep engines=1,2 --align", "a: 1", "--align works in one process alone"),
        ("--sweep engines=1 --engines 7", "a: 1", "--engines 7: there is no engine 7"),
        ("--engines all", "a: 1\nb: 2", "--engines needs numbers of engines: %%fwcompare --sweep"),
        ("--scaling weak", "a: 1\nb: 2", "--scaling needs numbers of engines"),
        ("--sweep engines=1,2", "a: f(", "SyntaxError in line 2"),
        ("--sweep engines=1,2", "a: nix + rank", r"a at engines = 1: engine 0 \(on .*NameError: "),
    ],
)  # fmt: skip
def test_what_cannot_be_swept_is_one_line(run: Shell, typed: str, arms: str, told: str) -> None:
    refused(run, f"%%fwcompare {typed}\n{arms}", told)
    assert not run.shown


def test_what_was_measured_before_an_error_or_ctrl_c_is_shown(
    run: Shell, two: Any, tmp_path: Path
) -> None:
    cell = f"%%fwcompare --sweep engines=1,2 {SHORT}\na: time.sleep(0.001)\nb:\n    "
    told = r"b at engines = 2: engine 1 \(on .*ValueError: no dat"
    refused(run, f"{cell}if rank == 1: raise ValueError('no data')", told)
    assert shown(run).startswith("a, b by engines a ")
    assert "points" not in shown(run)
    here = press_ctrl_c_when_reached(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run.run(f"{cell}if engines == 2:\n        {here}\n        time.sleep(60)")
    assert "Interrupted: the time is of the calls made until then." in shown(run)
    assert ask(two[:], "'engines' in globals()") == [False] * 2


def test_without_a_client_engines_is_a_name_as_any_other(shell: Shell) -> None:
    shell.run("%%fwcompare --sweep engines=1,2 -n 1 -r 3 -v found\na: engines + 1\nb: engines + 2")
    assert found(shell).scaling is None
    told = ".*there is no client"
    refused(shell, "%%fwcompare --sweep engines=1,2 --engines all\na: engines + 1", told)


def test_all_ranks_of_a_job_take_part_and_the_code_has_to_use_the_number(
    shell_of: Shells,
) -> None:
    shell = shell_of("jax")
    cell = f"%%fwcompare --sweep engines=1,2 {SHORT}"
    refused(shell, f"{cell}\na: 1 + rank", "a: engines 0,1 are one job: all of them take part")
    shell.run(f"{cell}{COLLECTIVE}")
    summed = found(shell)
    assert summed.scaling == Scaling({"sum": "strong"}, "jax", ("sum",))
    assert [point.values for point in summed.points] == [("1",), ("2",)]
    failing = "if engines == 2 and rank: raise ValueError('no data')\na: engines + 1"
    told = r"a at engines = 2: rank 1 .* ValueError: no data\.$"
    refused(shell, f"{cell}\n{failing}", told)
    assert [point.values for point in found(shell).points] == [("1",)]  # until one failed
    bound = "[name for name in ('engines', 'summed', 'those') if name in globals()]"
    assert ask(shell.names["rc"][:], bound) == [[], []]
    works(shell)  # they still work together


def rank(number: int, nanoseconds: list[int]) -> RankMeasurement:
    return RankMeasurement(number, "host", number, measured(nanoseconds, elapsed=1.0))


def test_rounds_of_each_engine_are_joined_before_the_slowest_is_chosen() -> None:
    reached = _Reached(["a"], [1, 2], Scaling({"a": "weak"}))
    for first, second in (([1 * MS] * 30, [4 * MS] * 30), ([9 * MS] * 20, [4 * MS] * 20)):
        reached.add(2, "a", JobMeasurement("f()", (rank(0, first), rank(1, second))))
    [point] = reached.sweep().points
    [side] = point.compared.sides
    # Engine 0 takes 1 ms in most of its samples, though 9 ms in the second round.
    assert side.measured is not None
    assert side.measured.median == pytest.approx(4e-3)
    assert (len(side.measured.batches), side.measured.elapsed) == (50, 2.0)
    assert side.measured.check() is None


def test_what_not_all_engines_measured_is_left_out() -> None:
    reached = _Reached(["a", "b"], [1, 2], Scaling({"a": "weak", "b": "weak"}))
    reached.add(1, "a", JobMeasurement("f()", (rank(0, [MS] * 20),)))
    reached.add(2, "a", JobMeasurement("f()", (rank(0, [MS] * 20),)))
    reached.add(2, "b", JobMeasurement("f()", ()))
    sweep = reached.sweep()
    assert ([point.values for point in sweep.points], sweep.planned) == ([("1",)], 2)
    assert [side.measured is None for side in sweep.points[0].compared.sides] == [False, True]


def divide() -> int:
    return 8 // engines  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize(("parts", "expected"), [
    (["engines + 1"], True),
    (["n = 8 // engines", "m = 2 * n", "range(m)"], True),
    (["n = 8 // engines\nm = 1", None, "range(m)"], False),
    (["def f(): return engines", "f()"], True),
    (["settings['n'] = engines", "settings.copy()"], True),
    (["import math\nmath.sqrt(engines)", "len('a')"], False),
    (["n = divide()", "range(n)"], True),
    (["divide()"], True),
    (["f = partial(divide)", "len('a')"], False),
    (["'of engines'\nn = 1", "n"], False),
])  # fmt: skip
def test_work_is_divided_where_an_arm_reads_what_was_made_of_engines(
    parts: list[str | None], expected: bool
) -> None:
    names = {"divide": divide, "settings": {}, "partial": functools.partial, "n": 2}
    before = dict(names)
    assert depends(parts, "engines", names) is expected
    assert names == before


@pytest.mark.parametrize(
    ("options", "budget"),
    [({"budget": 12.0}, 1.0), ({}, 1.1), ({"aim": "quick"}, 0.25), ({"number": 1}, None)],
)
def test_all_measurements_share_the_budget(options: dict[str, Any], budget: float | None) -> None:
    assert _options_per_measurement(CompareOptions(**options), points=6).budget == budget
