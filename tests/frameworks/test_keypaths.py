"""Paths to arrays as a person would type them, from Python's own view."""

import functools
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest

from ipyjaxbench.adapters.numpy.framework import NumPy
from ipyjaxbench.device.locate import locate, survey
from ipyjaxbench.device.watch_transfers import transfer_code
from ipyjaxbench.frameworks import find_arrays, walker
from ipyjaxbench.usercode.snippet import Source


class Net:
    """An object that can be called, and has arrays."""

    def __init__(self) -> None:
        self.w = np.array([1.0])

    def __call__(self, x: float) -> float:
        return x * self.w[0]


def paths(value: object) -> list[str]:
    return [each.name for each in locate({"x": value}).arrays if each.framework]


def test_objects_that_can_be_called_are_looked_into() -> None:
    assert paths(Net()) == ["x.w"]


def test_functions_with_arrays_bound_to_them_are_looked_into() -> None:
    net = Net()
    bound = functools.partial(max, net.w, key={"w": np.array([2.0])})
    assert paths(bound) == ["x.args[0]", "x.keywords['key']['w']"]
    assert paths(net.__call__) == ["x.__self__.w"]


def test_attributes_of_a_bound_function_are_looked_into() -> None:
    bound = functools.partial(max)
    bound.w = np.array([1.0])  # type: ignore[attr-defined]
    assert paths(bound) == ["x.w"]


def test_functions_and_classes_hold_nothing() -> None:
    def f() -> None: ...

    f.w = np.array([1.0])  # type: ignore[attr-defined]
    assert paths(f) == paths(Net) == []


class Slots:
    """An object without a dictionary; one of its slots is empty."""

    __slots__ = ("empty", "w")

    def __init__(self) -> None:
        self.w: Any = np.array([1.0, 2.0])


def test_objects_with_slots_are_looked_into() -> None:
    assert paths(Slots()) == ["x.w"]


class Held(NamedTuple):
    """Can be in a set, which an array cannot."""

    array: Any

    def __hash__(self) -> int:
        return id(self.array)


def test_arrays_that_no_path_leads_to_are_one_line_with_all_their_bytes() -> None:
    found = locate({"x": {Held(np.ones(3)), Held(np.ones(4))}})
    (line,) = found.arrays
    assert (line.name, line.arrays, line.nbytes, line.layout) == ("x", 2, 56, "")


def test_arrays_that_no_path_leads_to_may_share_memory_with_one_that_is_named() -> None:
    base = np.ones(4)
    found = locate({"base": base, "x": {Held(base[:2]), Held(np.ones(3))}})
    assert [(each.name, each.nbytes) for each in found.arrays] == [("base", 32), ("x", 24)]
    assert found.arrays[1].layout == "1 sharing memory with others"


def test_a_list_that_holds_itself_ends() -> None:
    values: list[Any] = [np.array([1.0])]
    values.append(values)
    assert paths(values) == ["x[0]"]


def test_queues_and_views_of_values_are_looked_into() -> None:
    one, other = np.array([1.0]), np.array([2.0])
    assert paths(deque([one, other])) == ["x[0]", "x[1]"]
    assert paths({"a": one}.values()) == ["x[0]"]
    (told,) = survey({"buffer": deque([one, other])}).arrays
    assert (told.name, told.arrays) == ("buffer", 2)


def test_arrays_behind_very_many_numbers_have_names() -> None:
    array = np.array([1.0])
    assert paths([*range(2000), array]) == ["x[2000]"]
    assert paths({**dict.fromkeys(range(2000), 0), "w": array}) == ["x['w']"]


def _refuse(*_: object) -> Any:
    raise RuntimeError("there is nothing here")


class Unbound:
    """A proxy of nothing: to ask what it is raises, as with werkzeug's outside of a request."""

    __class__ = property(_refuse)  # type: ignore[assignment]
    __getattr__ = _refuse


class Odd(type):
    """Its classes are equal to all others."""

    __eq__ = lambda *_: True  # noqa: E731
    __hash__ = type.__hash__


class OfOdd(metaclass=Odd):
    """An object of such a class."""

    def __init__(self) -> None:
        self.w = np.array([1.0])


class Pairs(Mapping[str, Any]):
    """A mapping that has pairs and values, the last of which cannot be had."""

    keys = _refuse

    def __getitem__(self, key: str) -> Any:
        return {"a": np.array([1.0]), "b": np.array([2.0])}[key]

    def __iter__(self) -> Iterator[str]:
        return iter("abc")

    def __len__(self) -> int:
        return 3


def test_a_mapping_is_asked_for_its_pairs_alone_and_as_far_as_it_gives_them() -> None:
    assert paths(Pairs()) == ["x['a']", "x['b']"]


class Closed(dict[str, Any]):
    """A mapping that cannot be read."""

    items = values = _refuse


def test_objects_that_raise_when_they_are_looked_into_hide_nothing_else() -> None:
    names = {"proxy": Unbound(), "closed": Closed(a=1), "odd": OfOdd(), "w": np.array([2.0])}
    assert [each.name for each in survey(names).arrays] == ["odd", "w"]
    told = locate(names).arrays
    assert [each.name for each in told] == ["proxy", "closed", "odd.w", "w"]
    assert [each.framework for each in told] == ["", "", "numpy", "numpy"]


def test_such_objects_do_not_end_a_look_at_what_code_copies() -> None:
    names: dict[str, Any] = {"proxy": Unbound(), "closed": Closed(a=1), "odd": OfOdd()}
    found, raised = transfer_code(Source.plain("made = odd.w + 1"), names)
    assert raised is None
    assert [each.name for each in found.created] == ["made"]


def test_what_looking_would_use_up_is_left_alone_and_said() -> None:
    arrays = (np.array([n]) for n in (1.0, 2.0))
    (told,) = locate({"arrays": arrays}).arrays
    assert (told.framework, told.layout) == ("", "looking into it would use it up")
    assert len(list(arrays)) == 2


def test_what_only_the_shell_leads_to_is_none_of_the_sessions() -> None:
    kept: list[Any] = []
    leave = type("ExitAutocall", (), {"__module__": "IPython.core.autocall"})()
    leave.shell = kept
    names: dict[str, Any] = {"exit": leave, "np": np}
    found, _ = transfer_code(Source.plain("exit.shell.append(np.ones(3))"), names)
    assert len(kept) == 1
    assert found.created == ()


def test_long_paths_keep_their_ends_which_tell_them_apart() -> None:
    parts = {"parts_of_a_model" + "_" * 60 + "that_is_large": [np.array([1.0]), np.array([2.0])]}
    lines = str(locate({"x": parts})).splitlines()
    names = [line.split()[0] for line in lines if "numpy" in line][:2]
    assert [name.startswith("x['parts_of_a_m") and "…" in name for name in names] == [True, True]
    assert [name[-12:] for name in names] == ["s_large'][0]", "s_large'][1]"]


class Row:
    """Plain data."""


class Asked(NumPy):
    """Counts the objects that it is asked about."""

    def __init__(self) -> None:
        self.count = 0

    def parts(self, value: object) -> Any:
        self.count += 1
        return super().parts(value)


def test_a_walk_through_plain_data_ends_and_still_comes_to_what_stands_beside_it() -> None:
    asked, array = Asked(), np.ones(3)
    rows = [Row() for _ in range(400_000)]
    for beside in ((rows, array), (array, rows), (rows, {"w": [array]})):
        asked.count = 0
        assert [found.array is array for found in find_arrays(beside, [asked])] == [True]
        assert asked.count < 200_000


def test_a_model_of_many_arrays_is_walked_to_its_end() -> None:
    model = [{"w": np.ones(1), "next": [Row(), Row()]} for _ in range(50_000)]
    assert len(find_arrays(model, [NumPy()])) == 50_000
    rest = [Row() for _ in range(90_000)]
    assert len(find_arrays([rest, np.ones(1)], [NumPy()])) == 1


def test_as_many_arrays_have_names_as_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walker, "_MAX_NODES", 10)
    assert len(paths([[np.ones(1)] for _ in range(20)])) == 20


def test_numbers_of_numpy_are_not_counted_as_objects_that_may_hold_arrays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(walker, "_MAX_PLAIN", 10)
    losses = [np.float64(n) for n in range(20)]
    assert [each.layout for each in locate({"x": [losses, np.ones(1)]}).arrays] == [""]


def test_a_value_of_which_not_all_was_looked_at_is_told() -> None:
    rows = [[i, str(i)] for i in range(200_000)]
    (told,) = locate({"rows": rows}).arrays
    assert told.layout == "no arrays in the part searched; too large to search completely"
    first, told = locate({"rows": [np.ones(3), rows]}).arrays
    assert first.name == "rows[0]"
    assert "too large" in told.layout
    (told,) = locate({"rows": rows[:50_000]}).arrays
    assert told.layout == ""
