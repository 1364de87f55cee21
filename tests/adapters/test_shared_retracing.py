"""What adapters share of telling traced calls from cached ones."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import MethodType
from typing import Any, NamedTuple

from ipyjaxbench.adapters.shared.retracing import (
    EventWatch,
    advise,
    cache_miss,
    shorten,
    unbound,
)
from ipyjaxbench.retracing import Signature


def function(*args: object, **kwargs: object) -> None:
    """Stands for what was compiled."""


class Event(NamedTuple):
    name: str
    thread: int | None


def test_a_call_owns_what_its_thread_reports_meanwhile() -> None:
    class Watch(EventWatch[Event]):
        takes = name = begin_call = end_call = signature = predicts = fixes = None  # type: ignore[assignment]

        def outside(self) -> tuple[Any, ...]:
            return tuple(event.name for event in self._others())

    seen: list[str] = []

    @contextmanager
    def source() -> Iterator[None]:
        seen.append("open")
        yield
        seen.append("closed")

    waited: list[object] = []
    here, events = threading.get_ident(), []
    with Watch(waited.append, events, source(), source()) as watch:  # type: ignore[abstract]
        assert seen == ["open", "open"]
        events += Event("early", here), Event("mine", here), Event("another's", here + 1)
        events.append(Event("nobody's", None))
        own = watch._since(1)
        assert [event.name for event in own.values()] == ["mine", "nobody's"]
        watch._owned.update(own)
        watch.wait("result")
    assert waited == ["result"]
    assert seen[2:] == ["closed", "closed"]
    assert watch.outside() == ("early", "another's")


def test_methods_and_partials_are_taken_off() -> None:
    inner = partial(function, 1, a=1, b=1)
    outer = partial(MethodType(inner, "self"), 2, b=2)
    assert unbound(outer, (3,), {"c": 3}) == (function, (1, "self", 2, 3), {"a": 1, "b": 2, "c": 3})
    assert unbound(function) == (function, (), {})

    class Own:
        """A partial of a library's own."""

        func, args, keywords = staticmethod(function), (1,), {"a": 1}

    found = unbound(Own(), (2,), is_partial=lambda kind: kind is Own)
    assert found == (function, (1, 2), {"a": 1})


def test_an_advice_is_given_once_for_all_paths() -> None:
    pad, fix = "pad {path} of {name}", "keep {path}"
    texts = advise("f", [(pad, "x"), (fix, "n"), (pad, "y"), (pad, "x")])
    assert texts == ("pad `x`, `y` of `f`", "keep `n`")


def test_a_miss_is_in_the_nearest_line_of_the_users_and_long_values_are_cut() -> None:
    here = sys._getframe()
    miss = cache_miss("f", Signature({}), None, here, placed=True)
    assert (miss.name, miss.placed) == ("f", True)
    assert miss.text == 'miss = cache_miss("f", Signature({}), None, here, placed=True)'
    frames: list[Any] = []
    thread = threading.Thread(target=lambda: frames.append(sys._getframe().f_back))
    thread.start()
    thread.join()
    nobodys = cache_miss("f", Signature({}), *frames, placed=False)
    assert (nobodys.line, nobodys.text) == (0, "")
    assert [shorten("a" * n) for n in (40, 41)] == ["a" * 40, "a" * 39 + "…"]


def test_a_value_of_several_lines_is_told_in_one() -> None:
    assert shorten("Graph(\n  nodes=[\n    1,\n  ],\n)") == "Graph( nodes=[ 1, ], )"
    assert shorten("a  b") == "a  b"
