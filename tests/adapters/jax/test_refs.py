"""Arrays that change in place: arguments with a shape and a dtype, as others are."""

import jax
import pytest

from ipyjaxbench.adapters.jax import Jax
from ipyjaxbench.adapters.jax.compile_events import Events
from ipyjaxbench.frameworks import CopyBudget, MutableState
from ipyjaxbench.retracing import TRACE_LOG
from tests.shell import Shell

pytestmark = pytest.mark.skipif(not hasattr(jax, "Ref"), reason="this JAX has no jax.new_ref")
SETUP = """import jax, jax.numpy as jnp
x = jnp.ones(3)
r, longer, whole = (jax.new_ref(jnp.zeros(*each)) for each in ((3,), (4,), (3, int)))
@jax.jit
def f(ref, x):
    ref[...] += 1
    return x.sum()"""


@pytest.fixture
def cells(shell: Shell) -> Shell:
    TRACE_LOG.clear()  # each test has an `f` of this code
    shell.run(SETUP)
    return shell


def test_another_shape_or_dtype_is_the_reason_and_another_ref_is_none(cells: Shell) -> None:
    cells.run("%%trace_cached -qv seen\nf(r, x); f(longer, x); f(whole, x); f(jax.new_ref(x), x)")
    calls = cells.names["seen"].calls
    assert [(each.state, [w.words() for w in each.why]) for each in calls] == [
        ("TRACED", ["first call"]),
        ("TRACED", ["ref: Ref f32[3] → Ref f32[4] (shape)"]),
        ("TRACED", ["ref: Ref f32[3] → Ref i32[3] (dtype)"]),
        ("CACHED", []),
    ]


def test_a_program_that_nobody_saw_traced_is_held_against_the_call(cells: Shell) -> None:
    cells.run("f(r, x)")
    TRACE_LOG.clear()
    cells.run("%trace_cached -qv seen --predict f(longer, x)")
    (call,) = cells.names["seen"].calls
    assert [each.words() for each in call.why] == ["ref: Ref f32[3] → Ref f32[4] (shape)"]


def test_a_program_has_it_as_an_input_and_the_gradient_is_that_of_arrays(cells: Shell) -> None:
    cells.run("%jaxpr -qv seen f(r, x)")
    assert cells.names["seen"].fixed == ()
    assert [each.name for each in cells.names["seen"].inputs] == ["ref", "x"]
    cells.run("%jaxpr -qv seen --grad f(r, x)")
    assert cells.names["seen"].outputs[0].shape == (3,)  # as x


def test_it_is_listed_as_it_is_read(cells: Shell) -> None:
    cells.run("q = {'m': longer}\n%fwdevices -qv seen r, q")
    assert [each.name for each in cells.names["seen"].arrays] == ["r[...]", "q['m'][...]"]


def test_what_is_kept_of_one_leaves_its_first_read_to_the_code(cells: Shell) -> None:
    jax.clear_caches()
    ref = cells.names["longer"]
    with Events() as events:
        (state,) = Jax().capability(MutableState).states(ref, CopyBudget())
        kept = {event.name for event in events.events}
        ref[...]
        read = {event.name for event in events.events} - kept
    assert (kept <= {"copy"}, read) == (True, {"get"})
    state.restore()


def test_the_first_call_compiles_what_the_code_needs_and_no_copies(cells: Shell) -> None:
    cells.run("jax.clear_caches()\n%fwtime -qv seen -n 1 -r 3 longer[...]")
    assert [each.name for each in cells.names["seen"].programs] == ["get"]


def test_one_that_code_writes_has_been_written_once(cells: Shell) -> None:
    cells.run("%fwtime -q -n 1 -r 3 f(r, x)\ntotal = float(r[...].sum())")
    assert cells.names["total"] == 3.0
