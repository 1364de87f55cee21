"""What adapters share of telling traced calls from cached ones."""

import sys
import threading
from functools import partial
from types import MethodType
from typing import Any

from ipyjaxbench.adapters.shared.retracing import advise, cache_miss, token, unbound
from ipyjaxbench.retracing import Signature


def function(*args: object, **kwargs: object) -> None:
    """Stands for what was compiled."""


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
    assert texts == ("pad x, y of f", "keep n")


def test_a_token_is_that_of_one_object() -> None:
    class Thing:
        """Can be referred to weakly."""

    one, other = Thing(), Thing()
    assert token(one) == token(one) != token(other)
    before = token(one)
    del one
    assert before not in {token(Thing()) for _ in range(10)}
    owner = Thing()
    assert token(MethodType(function, owner)) == token(MethodType(function, owner))
    assert token(MethodType(function, owner)) != token(MethodType(function, other))


def test_a_miss_is_in_the_nearest_line_of_the_users() -> None:
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
