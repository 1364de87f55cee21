"""Iterators and files that calls move: what cannot be put back is told, wherever it stands."""

import csv
import io
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import ipyjaxbench


def advanced(names: dict[str, Any], code: str) -> str:
    """Names that are told not to be as one call leaves them, or a note that they are used up."""
    found = ipyjaxbench.measure_code(code, names, number=3, repeat=2)
    texts = {note.code: note.text for note in found.notes}
    return texts.get("state-advanced", "").partition(" advanced by ")[0]


def squares() -> Iterator[int]:
    for i in itertools.count():
        yield i * i


def total() -> Iterator[list[Any]]:
    seen: list[Any] = []
    while True:
        seen.append((yield seen))


class Steps:
    def __init__(self, it: Iterator[Any]) -> None:
        self.it = it

    def go(self) -> Any:
        return next(self.it)

    def stay(self) -> None:
        pass


MADE: dict[str, Callable[[], Iterator[Any]]] = {
    "generator": lambda: (i for i in range(10**9)),
    "function": squares,
    "range": lambda: iter(range(10**9)),
    "list": lambda: iter([*range(100)]),
    "reversed": lambda: reversed([*range(100)]),
    "tuple": lambda: iter((*range(100),)),
    "dict": lambda: iter(dict.fromkeys(range(100))),
    "set": lambda: iter({*range(100)}),
    "str": lambda: iter("a" * 100),
    "zip": lambda: zip(range(100), range(100), strict=True),
    "map": lambda: map(str, range(100)),
    "enumerate": lambda: enumerate([*range(100)]),
    "count": itertools.count,
    "repeat": lambda: itertools.repeat(1, 100),
    "chain": lambda: itertools.chain(range(50), range(50)),
    "islice": lambda: itertools.islice(range(100), 90),
    "csv": lambda: csv.reader(["a,b"] * 100),
}


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("code", ["next(z)", "z.__next__()", "take()", "S.go()"])
def test_an_iterator_that_moves_is_told(kind: str, code: str) -> None:
    names: dict[str, Any] = {"z": MADE[kind]()}
    exec("def take(): return next(z)", names)
    if code == "S.go()":
        names["S"] = Steps(names.pop("z"))
        assert advanced(names, code) == "'S'"
    else:
        assert advanced(names, code) == "'z'"


@pytest.mark.parametrize("code", ["g.send(None)", "next(g)"])
def test_a_generator_that_keeps_what_it_is_sent_is_told(code: str) -> None:
    g = total()
    next(g)
    assert advanced({"g": g}, code) == "'g'"


@pytest.mark.parametrize("kind", sorted(MADE.keys() - {"csv"}))
def test_an_iterator_that_stays_is_not_told(kind: str) -> None:
    names: dict[str, Any] = {"z": MADE[kind]()}
    exec("def name(): return type(z).__name__", names)
    assert advanced(names, "name()") == ""
    next(names["z"])


def test_an_iterator_in_a_method_that_is_not_called_is_not_told() -> None:
    assert advanced({"S": Steps(MADE["csv"]())}, "S.stay()") == ""


def test_looking_takes_nothing() -> None:
    names: dict[str, Any] = {"z": (i for i in range(100))}
    exec("def name(): return type(z).__name__", names)
    advanced(names, "name()")
    assert next(names["z"]) == 0


def test_a_used_up_iterator_in_a_function_is_told() -> None:
    names: dict[str, Any] = {"z": iter([1, 2, 3])}
    exec("def add(): return sum(z)", names)
    found = ipyjaxbench.measure_code("add()", names, number=3, repeat=2)
    (note,) = [note for note in found.notes if note.code == "used-up"]
    assert note.text.startswith("The first call used up z")


@pytest.mark.parametrize("code", ["fh.readline()", "fh.read(4)", "line()"])
@pytest.mark.parametrize("mode", ["r", "rb"])
def test_a_file_that_is_read_is_put_back(tmp_path: Path, code: str, mode: str) -> None:
    path = tmp_path / "lines"
    path.write_text("".join(f"{i:03}\n" for i in range(100)))
    with path.open(mode) as fh:
        names: dict[str, Any] = {"fh": fh}
        exec("def line(): return fh.readline()", names)
        assert advanced(names, code) == ""
        assert fh.tell() == 4


def test_a_file_that_does_not_show_how_far_it_is_is_told(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text("1\n" * 100)
    with path.open() as fh:
        assert advanced({"fh": fh}, "next(fh)") == "'fh'"


def test_a_file_that_is_written_is_told(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as fh:
        assert advanced({"fh": fh}, "fh.write('x')") == "'fh'"


@pytest.mark.parametrize("made", [io.StringIO("abc"), io.BytesIO(b"abc")])
def test_a_file_in_memory_is_put_back(made: Any) -> None:
    made.seek(1)
    names = {"fh": made, "text": "xy" if isinstance(made, io.StringIO) else b"xy"}
    assert advanced(names, "fh.write(text)") == ""
    assert made.getvalue() in ("axy", b"axy")
    assert made.tell() == 3
