"""What calls change of JAX's arrays, references and settings, and how values are waited for."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax import nnx

from ipyjaxbench.adapters.jax import Jax
from ipyjaxbench.adapters.jax.state import JaxState
from ipyjaxbench.frameworks import CopyBudget, MutableState
from tests.left import Cell, check_left
from tests.loads import named
from tests.shell import Shell

X = jnp.ones(4)
NEW_REF: Any = getattr(jax, "new_ref", None)


@pytest.fixture
def state() -> JaxState:
    return named("jax").capability(MutableState)  # type: ignore[return-value]


@pytest.mark.skipif(NEW_REF is None, reason="this JAX has no references")
def test_a_reference_takes_the_bytes_of_its_numbers_and_is_written_back(state: JaxState) -> None:
    ref = NEW_REF(jnp.zeros(3))
    (kept,) = state.states(ref, CopyBudget(12)) or ()
    assert (kept.nbytes, kept.can_restore, kept.changed()) == (12, True, False)
    ref[...] = ref[...] + 1
    assert kept.changed()
    kept.restore()
    assert not kept.changed()
    assert ref[...].tolist() == [0, 0, 0]
    (kept,) = state.states(ref, CopyBudget(11)) or ()
    assert not kept.can_restore


def test_arrays_are_copied_only_where_calls_may_give_them_away(state: JaxState) -> None:
    assert state.states(X, CopyBudget()) == []
    (lost,) = state.states(X, CopyBudget(15, gives_away=True)) or ()  # it takes 16 bytes
    assert (lost.can_restore, lost.changed()) == (False, False)
    (kept,) = state.states(X, CopyBudget(16, gives_away=True)) or ()
    assert not kept.changed()
    gone = X + 1
    gone.delete()
    assert state.states(gone, CopyBudget(gives_away=True)) == []


def test_what_is_no_array_of_its_own_has_no_state(state: JaxState) -> None:
    assert state.states(X.sharding, CopyBudget()) == []
    assert state.states(jax.devices()[0], CopyBudget()) == []
    assert state.states({"a": X}, CopyBudget()) is None
    assert state.states(3, CopyBudget()) is None
    seen: list[Any] = []
    jax.make_jaxpr(lambda x: seen.append(state.states(x, CopyBudget(gives_away=True))) or x)(X)
    assert seen == [[]]


def test_a_tree_is_copied_where_memory_is_left_and_all_arrays_are_there(
    state: JaxState, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = {"a": X, "b": [X + 1, "c"]}
    for free, is_copied in ((320, True), (319, False)):  # a tenth of it for 32 bytes
        monkeypatch.setattr(Jax, "free_memory", lambda _, free=free: free)
        copied = state.copy(tree)
        assert (copied is not None) is is_copied
        if copied is not None:
            assert copied["a"] is not X
            assert copied["a"].unsafe_buffer_pointer() != X.unsafe_buffer_pointer()
            assert copied["b"][0].tolist() == [2, 2, 2, 2]
            assert copied["b"][1] == "c"
    gone = X + 1
    gone.delete()
    assert state.copy([X, gone]) is None


def test_arrays_that_are_gone_are_replaced_in_a_tree_and_only_there(state: JaxState) -> None:
    old, new = X + 1, X + 2
    tree = {"a": [old, X]}
    assert state.revived(tree, {}) is tree
    found = state.revived(tree, {id(old): new})["a"]
    assert (found[0] is new, found[1] is X, tree["a"][0] is old) == (True, True, True)


# What is left is as after one run

SIZE = "jax_compilation_cache_max_size"
KEYS = "import pytest; keys = pytest.importorskip('haiku').PRNGSequence(3)"
CELLS = {
    "jax.config": Cell("import jax", f"jax.config.update('{SIZE}', jax.config.{SIZE} + 1)",
                       f"jax.config.{SIZE}", f"jax.config.update('{SIZE}', -1)"),
    "config by name": Cell("from jax import config", f"config.update('{SIZE}', config.{SIZE} + 1)",
                           f"config.{SIZE}", f"config.update('{SIZE}', -1)"),
    "statistics of a layer": Cell(
        "m, x = made()", "m(x)", "m.mean[...].tolist()"),
    "a sequence of keys": Cell(KEYS, "next(keys)", "str(keys.internal_state)"),
    "in a function": Cell(f"{KEYS}; keys.reserve(9)\ndef f(): return next(keys)", "f()",
                          "str(keys.internal_state)"),
}  # fmt: skip


def made() -> tuple[nnx.BatchNorm, jax.Array]:
    return nnx.BatchNorm(3, rngs=nnx.Rngs(0)), jax.numpy.ones((4, 3))


@pytest.mark.parametrize("name", CELLS)
def test_it_is_as_after_one_run(shell: Shell, name: str) -> None:
    shell.names["made"] = made
    check_left(shell, CELLS[name])
