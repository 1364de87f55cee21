"""What user code changes outside of itself while it is traced: a look leaves all as it was."""

import itertools
import os
import random
import warnings
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ipyjaxbench
from ipyjaxbench import Graph

X = jnp.ones(3)
SEEN: list[str] = []
TABLE = np.zeros(3)
RANDOM = np.random.default_rng(0)
OWN = random.Random(0)
TURNS = iter(range(100))
COUNTER = itertools.count()
GIVES = (n for n in range(100))


@jax.jit
def counts(x: Any) -> Any:
    SEEN.append("a")
    TABLE[0] += 1
    return helper(x)


def helper(x: Any, told: list[str] = []) -> Any:  # noqa: B006
    told.append("b")
    return x * len(SEEN) * len(told)


def sets(x: Any) -> Any:
    os.environ["IPYJAXBENCH_LEFT"] = "1"
    os.chdir("/")
    warnings.filterwarnings("ignore", "nothing")
    np.seterr(all="ignore")
    jax.config.update("jax_numpy_rank_promotion", "warn")
    return x + 1


def notes(found: Graph) -> dict[str, str]:
    return {note.code: note.text for note in found.notes}


def test_containers_and_arrays_of_numpy_are_as_they_were() -> None:
    found = ipyjaxbench.graph(counts, X)
    assert found.program == ipyjaxbench.graph(counts, X).program
    assert (SEEN, TABLE[0], helper.__defaults__) == ([], 0, ([],))
    text = notes(found)["changed-while-traced"]
    assert all(name in text for name in ("SEEN", "TABLE", "told"))


@pytest.mark.parametrize(("more", "is_told"), [(0, True), (1, False)])
def test_that_code_changes_an_array_of_more_than_a_mebibyte_is_not_told(
    more: int, is_told: bool
) -> None:
    table = np.zeros(2**17 + more)

    def fills(x: Any) -> Any:
        table[0] = 1
        return x

    assert ("changed-while-traced" in notes(ipyjaxbench.graph(fills, X))) is is_told
    assert table[0] == 0


def test_a_call_that_changes_nothing_or_refuses_to_be_looked_at_has_no_notes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert ipyjaxbench.graph(lambda x: x * TABLE + OWN.getstate()[0], X).notes == ()
    assert ipyjaxbench.graph(lambda x, other: x, X, Refuses()).fixed == ("other",)


def test_what_holds_for_the_process_is_as_it_was() -> None:
    def held() -> Any:
        promotion = jax.config.jax_numpy_rank_promotion
        return dict(os.environ), Path.cwd(), [*warnings.filters], np.geterr(), promotion

    before = held()
    text = notes(ipyjaxbench.graph(sets, X))["changed-while-traced"]
    assert held() == before
    assert "os.environ, the working directory, warnings.filters, np.seterr, jax.config" in text


def test_random_numbers_are_drawn_again_and_that_they_are_part_of_the_program_is_told() -> None:
    def draws(x: Any) -> Any:
        return x * random.random() * np.random.rand() * RANDOM.random() * OWN.random()

    np.random.rand()
    first, second = (ipyjaxbench.graph(draws, X) for _ in range(2))
    assert first.program == second.program
    assert notes(first)["drawn-once"].startswith(
        "A random number is drawn from random, np.random, RANDOM, OWN during tracing"
    )


@pytest.mark.parametrize("name", ["TURNS", "COUNTER", "GIVES"])
def test_what_goes_one_way_is_told(name: str) -> None:
    names = {name: globals()[name]}
    exec(f"def takes(x): next({name}); return x", names)
    (note,) = ipyjaxbench.graph(names["takes"], X).notes
    assert note.text.startswith(f"The code modifies {name}.")
    assert note.text.endswith("It could not be restored.")


class Refuses:
    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)
