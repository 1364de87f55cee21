"""In which order arguments are tried as static ones, and until when."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ipyjaxbench.adapters.jax.graphs import static_search
from ipyjaxbench.adapters.jax.graphs.static_search import Choices
from ipyjaxbench.testing import FakeClock
from ipyjaxbench.usercode.call import Call

X = jnp.ones(3)
SECOND = 10**9
NAMED = TypeError("This value depends on the values of the arguments b and t. Later.\n")


@jax.tree_util.register_pytree_node_class
class Scaled:
    """It can be hashed, and holds an array."""

    def tree_flatten(self) -> Any:
        return (X,), None

    @classmethod
    def tree_unflatten(cls, _: Any, __: Any) -> "Scaled":
        return cls()


def function(x: Any, f: Any, n: Any, flag: Any, word: Any = "w") -> Any:
    return x


def sets(call: Call) -> list[set[str]]:
    return [set(each) for each in Choices(call).upto(4.0)]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    clock = FakeClock()
    clock.advance(5 * SECOND)
    monkeypatch.setattr(static_search, "_CLOCK", clock)
    return clock


def test_few_are_tried_before_many_and_flags_before_numbers() -> None:
    assert sets(Call.from_function(function, X, 2.0, 3, True)) == [
        set(), {"flag"}, {"n"}, {"f"}, {"flag", "n"}, {"flag", "f"}, {"n", "f"}, {"flag", "n", "f"},
    ]  # fmt: skip
    assert sets(Call.from_function(function, X, 2.0, (1,), None, "a"))[1:5] == [
        {"word"}, {"flag"}, {"n"}, {"f"},
    ]  # fmt: skip


@pytest.mark.parametrize("value", [[1], ([1],), (np.ones(2),), X, {"a": 1}])
def test_what_jit_could_not_hash_is_never_tried(value: Any) -> None:
    assert sets(Call.from_function(lambda x, a: x, X, value)) == [set()]


@pytest.mark.parametrize(
    ("value", "is_static"), [("relu", True), (3, True), ((1, 2), True), ([1], False),
                             (([1],), False), (X, False), (Scaled(), False)]
)  # fmt: skip
def test_only_what_has_a_hash_and_holds_no_array_can_be_static(
    value: Any, *, is_static: bool
) -> None:
    assert static_search._can_be_static(value) is is_static


def test_arguments_that_jax_names_are_tried_first_and_more_are_added_to_a_set() -> None:
    choices = Choices(Call.from_function(lambda x, a, b, t: x, X, True, 2, (3,)))
    given, named = [], []
    for static in choices.upto(4.0):
        given.append(set(static))
        named.append(choices.is_named)
        choices.failed(static, NAMED if len(given) < 3 else TypeError("something else"))
    # With b alone JAX names t too: both are tried next.
    assert given[:5] == [set(), {"b"}, {"b", "t"}, {"t"}, {"a"}]
    assert named[1:5] == [True, True, True, False]
    assert choices.tries == len(given) == 8
    assert not choices.stopped


def test_no_more_than_32_sets_are_given_out() -> None:
    choices = Choices(Call.from_function(lambda *a: a, *[True] * 6))
    assert len([*choices.upto(4.0)]) == choices.tries == 32
    assert not choices.stopped


@pytest.mark.parametrize(("nanoseconds", "tries"), [(4 * SECOND - 1, 3), (4 * SECOND, 2)])
def test_after_the_time_no_other_set_is_given_out(
    clock: FakeClock, nanoseconds: int, tries: int
) -> None:
    choices = Choices(Call.from_function(lambda x, a, b: x, X, True, 2))
    search = choices.upto(4.0)
    assert next(search) == frozenset()
    clock.advance(100 * SECOND)  # what jit would trace may take as long as it takes
    assert next(search) == {"a"}
    assert choices.left == pytest.approx(4.0)
    clock.advance(nanoseconds)
    assert next(search, None) == ({"b"} if tries == 3 else None)
    assert (choices.tries, choices.stopped) == (tries, tries == 2)


def test_after_the_time_what_jax_names_is_still_tried(clock: FakeClock) -> None:
    choices = Choices(Call.from_function(lambda x, a, b, t: x, X, True, 2, (3,)))
    search = choices.upto(4.0)
    choices.failed(next(search), NAMED)
    assert next(search) == {"b"}
    clock.advance(9 * SECOND)
    assert next(search) == {"t"}
    assert next(search, None) is None
    assert choices.stopped


@pytest.mark.parametrize(
    ("value", "is_large"), [(1000, False), (1001, True), (1000.5, True), ("long", False)]
)
def test_more_than_1000_turns_are_many(value: Any, *, is_large: bool) -> None:
    choices = Choices(Call.from_function(lambda x, n: x, X, value))
    assert choices.has_large(frozenset({"n"})) is is_large
    assert not choices.has_large(frozenset())
