"""Iterators and files that calls move: what cannot be put back is told, wherever it stands."""

import array
import csv
import io
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import ipyjaxbench
from ipyjaxbench.frameworks.state.copy_budget import CopyBudget
from ipyjaxbench.frameworks.state.positions import is_readable, is_unreadable, position_states


def advanced(names: dict[str, Any], code: str) -> str:
    """Names that are told not to be as one call leaves them, or a note that they are used up."""
    found = ipyjaxbench.measure_code(code, names, number=3, repeat=2)
    texts = {note.code: note.text for note in found.notes}
    return texts.get("state-advanced", "").partition(" advanced by ")[0]


def state_of(value: Any, most: float = 100) -> Any:
    (state,) = position_states(value, CopyBudget(most)) or (None,)
    return state


def squares() -> Iterator[int]:
    for i in itertools.count():
        yield i * i


def total() -> Iterator[list[Any]]:
    seen: list[Any] = []
    while True:
        seen.append((yield seen))


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
    # Those that are inside of others move alone.
    "an iterator in an iterator": lambda: map(str, iter([1, 2, 3])),
    "a tuple of iterators": lambda: zip(iter([1, 2]), iter([1, 2]), strict=False),
    "a generator in an iterator": lambda: map(str, (i for i in [1, 2, 3])),
    "numbers counted in halves": lambda: itertools.count(0.5, 0.5),
    "a cycle": lambda: itertools.cycle([1, 2]),
    "a generator that waits in another": lambda: (j for i in [1] for j in iter([1, 2, 3])),
}


@pytest.mark.parametrize("kind", sorted(MADE.keys() - {"csv"}))
def test_an_iterator_that_moves_shows_it_and_looking_takes_nothing(kind: str) -> None:
    value, other = MADE[kind](), MADE[kind]()
    state = state_of(value)
    assert (state.can_restore, state.changed()) == (False, False)
    assert next(value) == next(other)
    assert state.changed()


class Holder:
    """A method that takes an item, and one that does not."""

    def __init__(self, it: Iterator[Any]) -> None:
        self.it = it

    def go(self) -> Any:
        return next(self.it)

    def stay(self) -> None: ...


@pytest.mark.parametrize("kind", ["generator", "list", "csv"])
@pytest.mark.parametrize(
    ("code", "told"),
    [("next(z)", "'z'"), ("z.__next__()", "'z'"), ("take()", "'z'"), ("S.go()", "'S'"),
     ("S.stay()", "")],
)  # fmt: skip
def test_an_iterator_that_moves_is_told_by_its_name(kind: str, code: str, told: str) -> None:
    names: dict[str, Any] = {"z": MADE[kind]()}
    exec("def take(): return next(z)", names)
    if code.startswith("S"):
        names["S"] = Holder(names.pop("z"))
    assert advanced(names, code) == told


@pytest.mark.parametrize("code", ["g.send(None)", "next(g)"])
def test_a_generator_that_keeps_what_it_is_sent_is_told(code: str) -> None:
    g = total()
    next(g)
    assert advanced({"g": g}, code) == "'g'"


def test_a_used_up_iterator_in_a_function_is_told() -> None:
    names: dict[str, Any] = {"z": iter([1, 2, 3])}
    exec("def add(): return sum(z)", names)
    found = ipyjaxbench.measure_code("add()", names, number=3, repeat=2)
    (note,) = [note for note in found.notes if note.code == "used-up"]
    assert note.text.startswith("The first call exhausted z")


@pytest.mark.parametrize("code", ["fh.read(4)", "line()"])
def test_a_file_that_is_read_is_put_back(tmp_path: Path, code: str) -> None:
    path = tmp_path / "lines"
    path.write_text("".join(f"{i:03}\n" for i in range(100)))
    with path.open() as fh:
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


def test_the_end_of_an_iterator_is_another_place() -> None:
    for value in (iter([]), (i for i in ()), reversed([1])):
        state = state_of(value)
        assert not state.changed()
        assert [*value] in ([], [1])
        assert state.changed()


def test_a_coroutine_shows_how_far_it_is() -> None:
    async def work() -> None: ...

    coroutine = work()
    state = state_of(coroutine)
    assert not state.changed()
    with pytest.raises(StopIteration):
        coroutine.send(None)
    assert state.changed()


class Own(Iterator[int]):
    """An iterator of the user's."""

    def __next__(self) -> int:
        return 1


OF_A_LIBRARY: Any = type("Theirs", (Iterator,), {"__next__": len, "__module__": "csv"})


@pytest.mark.parametrize(
    ("make", "readable", "unreadable"),
    [
        (lambda: iter([]), True, False), (lambda: (i for i in ()), True, False),
        (itertools.count, True, False), (Own, False, False), (OF_A_LIBRARY, False, True),
        (lambda: csv.reader([]), False, True), (lambda: io.StringIO("a"), False, False),
        (list, False, False), (lambda: array.array("d"), False, False),
    ],
)  # fmt: skip
def test_iterators_of_libraries_do_not_show_how_far_they_are(
    make: Callable[[], Any], readable: bool, unreadable: bool
) -> None:
    value = make()
    assert (is_readable(value), is_unreadable(value)) == (readable, unreadable)


def test_other_values_have_no_position() -> None:
    assert state_of([1]) is state_of(Own()) is state_of(3) is None


@pytest.mark.parametrize("made", [io.StringIO("abc"), io.BytesIO(b"abc")])
def test_files_in_memory_are_copied_where_there_is_memory(made: Any) -> None:
    state, small = state_of(made, 3), state_of(made, 2)
    assert (state.nbytes, state.can_restore, small.can_restore) == (3, True, False)
    assert [state.changed(), small.changed()] == [False, False]
    made.read(1)
    assert [state.changed(), small.changed()] == [True, True]
    state.restore()
    assert (made.tell(), small.changed()) == (0, False)
    made.seek(0, io.SEEK_END)
    made.write(made.getvalue()[:1])
    made.seek(0)
    assert [state.changed(), small.changed()] == [True, True]
    state.restore()
    assert made.getvalue() in ("abc", b"abc")


@pytest.mark.parametrize(("mode", "can"), [("r", True), ("rb", True), ("r+", False), ("a", False)])
def test_a_file_is_put_back_where_it_is_only_read(tmp_path: Path, mode: str, can: bool) -> None:
    path = tmp_path / "lines"
    path.write_text("abc\n")
    with path.open(mode) as fh:
        state = state_of(fh)
        assert (state.can_restore, state.changed()) == (can, False)
        if can:
            fh.read(2)
            assert state.changed()
            state.restore()
            assert fh.tell() == 0
