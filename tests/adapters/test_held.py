"""``%fwdevices --held``: who keeps arrays alive after a failed cell; ``--release`` lets them go."""

import builtins
import gc
import weakref
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tensorflow as tf  # changes the environment when it is loaded
import torch
import torch._dynamo  # changes the environment when it is loaded
from IPython.core.error import UsageError

from ipyjaxbench.device.held import Held, Holder
from tests.shell import Shell

pytestmark = pytest.mark.usefixtures("frameworks_are_no_garbage")  # each release collects
SIDE = 300
MATRIX = 8 * SIDE**2
FAILING = f"""\
def train(n):
    x = np.ones((n, n))
    raise ValueError("no")

def outer():
    big = np.ones(({SIDE}, {SIDE}))
    return lambda v: v + big
"""


@pytest.fixture
def ready(shell: Shell) -> Iterator[Shell]:
    """A shell that knows of no array yet."""
    shell.names.update(np=np, jnp=jnp, jax=jax, tf=tf, torch=torch)
    shell.run(FAILING)
    shell.run("%fwdevices -q --release")
    yield shell
    shell.run("%fwdevices -q --release")


def numbered(run: Shell, cell: str) -> int:
    """Run a cell whose result IPython keeps; return its number."""
    number = run.shell.execution_count
    run.shell.run_cell(cell, store_history=True)
    return number


def holders(run: Shell) -> dict[str, Holder]:
    run.run("%fwdevices -q --held -v found")
    return {each.path: each for each in run.names["found"].holders}


def released(run: Shell) -> Any:
    run.run("%fwdevices -q --release -v done")
    return run.names["done"]


@pytest.mark.parametrize("make", ["np.ones", "torch.ones"])
def test_a_result_that_ipython_keeps_is_found_and_let_go(ready: Shell, make: str) -> None:
    plain = numbered(ready, "5")
    number = numbered(ready, f"{{'loss': [{make}(({SIDE}, {SIDE}))]}}")
    path = f"Out[{number}]['loss'][0]"
    value = ready.names["_oh"][number]["loss"][0]
    found, nbytes, gone = holders(ready), int(value.nbytes), weakref.ref(value)
    del value
    assert found[path].alone == found[path].nbytes == nbytes
    assert found[path].let_go == "%fwdevices --release"
    done = released(ready)
    assert done.freed == nbytes
    assert f"Out[{number}]" in done.released
    assert gone() is None
    assert number not in ready.names["_oh"]
    assert f"_{number}" not in ready.names
    assert path not in holders(ready)
    # Results without arrays stay, and IPython goes on binding them.
    assert ready.names["_oh"][plain] == ready.names[f"_{plain}"] == 5
    numbered(ready, "7")
    assert ready.names["_"] == 7


def test_locals_of_a_traceback_are_found_and_let_go(ready: Shell) -> None:
    ready.shell.run_cell(f"train({SIDE})", store_history=False)
    (found,) = [each for each in holders(ready).values() if each.kind == "traceback"]
    assert found.path == "the last traceback, train(), line 3: x"
    assert found.alone == MATRIX
    assert ready.names["found"].releasable == MATRIX
    done = released(ready)
    assert done.freed == MATRIX
    assert done.released == ("the locals of 1 function in the last traceback",)
    assert not holders(ready)


def test_an_error_that_the_user_keeps_holds_the_locals_of_its_functions(ready: Shell) -> None:
    ready.run(f"err = None\ntry: train({SIDE})\nexcept Exception as error: err = error")
    (found,) = holders(ready).values()
    assert (found.kind, found.let_go) == ("error", "del err")
    assert found.path == "the traceback of err, train(), line 3: x"
    assert ready.names["found"].releasable == 0
    ready.run(found.let_go)
    assert not holders(ready)


def test_what_names_lead_to_is_never_let_go(ready: Shell) -> None:
    ready.run(f"y = np.ones(({SIDE}, {SIDE}))")
    number = numbered(ready, "y[0]")  # a view holds all of it
    found = holders(ready)[f"Out[{number}]"]
    assert (found.nbytes, found.alone, found.also) == (MATRIX, 0, "y")
    assert ready.names["found"].named >= MATRIX
    ready.run(f"_ = np.ones(({SIDE}, {SIDE}))")  # the user's own, though it looks like IPython's
    try:
        assert released(ready).freed == 0
        assert ready.names["_"].nbytes == ready.names["y"].nbytes == MATRIX
    finally:
        ready.run("del _")


def test_what_pytorchs_compiler_binds_and_the_shell_lead_nowhere(ready: Shell) -> None:
    ready.run("ip = get_ipython(); everything = globals()")
    ready.run("@torch.compile(backend='eager')\ndef total(x): return sum(x.shape) + x.sum()")
    ready.run("total(torch.ones(3));")
    assert any(value is vars(builtins) for value in ready.names.values())
    number = numbered(ready, f"np.ones(({SIDE}, {SIDE}))")
    found = holders(ready)[f"Out[{number}]"]
    assert (found.alone, found.also) == (MATRIX, "")
    assert released(ready).freed - MATRIX in range(64)  # the sum goes, too


def test_closures_are_found(ready: Shell) -> None:
    ready.run("f = outer(); g = jax.jit(outer())")
    found = holders(ready)
    for name in ("f", "g"):
        held = found[f"{name}()'s big"]
        assert (held.kind, held.alone, held.let_go) == ("closure", MATRIX, f"del {name}")
    ready.run("del f, g, found")
    gc.collect()
    assert not holders(ready)


@pytest.mark.parametrize(
    ("code", "path", "held"),
    [
        ("class K: store = MADE", "K.store", None),
        ("def fn(): pass\nfn.cache = [MADE]", "fn.cache", None),
        ("import threading\nown = threading.local()\nown.x = MADE", "own.x", None),
        ("gen = (q for q in [MADE])", "the frame of gen", ("generator", "del gen")),
        ("def g():\n  x = MADE\n  yield\ngen = g(); next(gen)", "the frame of gen",
         ("generator", "del gen")),
        ("import functools\n@functools.lru_cache\ndef cached(): return MADE\ncached() is None",
         "the cache of cached", ("cache", "cached.cache_clear()")),
        ("import functools\nclass K:\n  @functools.cache\n  def f(n): return MADE\nK.f(1) is None",
         "the cache of K.f", ("cache", "K.f.cache_clear()")),
    ],
)  # fmt: skip
@pytest.mark.parametrize("make", ["torch.ones", "jnp.ones"])
def test_classes_functions_generators_and_caches_hold_arrays_too(
    ready: Shell, make: str, code: str, path: str, held: tuple[str, str] | None
) -> None:
    ready.run(code.replace("MADE", f"{make}(({SIDE}, {SIDE}))"))
    found = holders(ready)
    assert {each.path: (each.kind, each.let_go) for each in found.values()} == (
        {path: held} if held else {}
    )
    assert held or ready.names["found"].named == MATRIX // 2
    ready.run("%fwdevices -q -v there")
    assert [(each.name, each.nbytes) for each in ready.names["there"].arrays] == [
        (path, MATRIX // 2)
    ]
    if held:
        ready.run(held[1])
        assert holders(ready) == {}


def test_graphs_gradients_and_optimizers_are_found(ready: Shell) -> None:
    ready.run(f"w = torch.ones({SIDE}, {SIDE}, requires_grad=True)")
    ready.run("loss = (w * 2).exp().sum()")
    (graph,) = holders(ready).values()
    assert (graph.kind, graph.path) == ("graph", "the graph of loss")
    assert graph.alone - MATRIX // 2 in range(64)  # the two is a tensor, too
    ready.run(graph.let_go)
    assert not holders(ready)
    ready.run("opt = torch.optim.Adam([w]); w.sum().backward(); opt.step()")
    found = {each.kind: each for each in holders(ready).values()}
    assert found["gradient"].alone == MATRIX // 2
    assert found["optimizer"].alone - MATRIX in range(64)  # two moments, and the count of steps
    ready.run(found["gradient"].let_go)
    ready.run(found["optimizer"].let_go)
    assert not holders(ready)


def test_hooks_that_unpack_what_a_graph_saved_are_not_called(ready: Shell) -> None:
    called: list[Any] = []
    ready.names.update(pack=lambda t: t, unpack=called.append)
    ready.run(f"w = torch.ones({SIDE}, {SIDE}, requires_grad=True)")
    ready.run("with torch.autograd.graph.saved_tensors_hooks(pack, unpack):\n"
              "    loss = (w * 2).exp().sum()")  # fmt: skip
    assert "the graph of loss" in holders(ready)
    assert called == []


def test_arrays_that_no_search_comes_to_are_told_in_a_line(ready: Shell) -> None:
    def keeping() -> Iterator[None]:
        kept = jnp.ones((SIDE, SIDE))
        yield
        del kept

    running = keeping()
    next(running)
    holders(ready)
    count, nbytes = ready.names["found"].elsewhere["jax"]
    assert count >= 1
    assert nbytes >= 4 * SIDE**2
    running.close()


def test_a_tape_that_keeps_what_it_recorded_is_told(ready: Shell) -> None:
    """TensorFlow's tapes keep it where Python cannot look."""
    ready.run("""\
w = tf.Variable(tf.ones((9, 9)))
with tf.GradientTape(persistent=True) as kept, tf.GradientTape() as asked:
    loss = tf.reduce_sum(tf.tanh(w))
asked.gradient(loss, w)
""")
    try:
        ready.run("%fwdevices -q --held -v found")
        assert ready.names["found"].unseen == ("kept",)
        assert "what kept recorded for gradients" in str(ready.names["found"])
    finally:
        del ready.names["kept"]
    ready.run("%fwdevices -q --held -v found")
    assert ready.names["found"].unseen == ()


def test_a_quiet_session_has_no_holders(ready: Shell) -> None:
    ready.run(f"y = np.ones({SIDE})")
    assert holders(ready) == {}
    first = " ".join(str(ready.names["found"]).split("\n")[0].split())
    assert first == "held nothing but your names holds arrays"
    assert released(ready).released == ("nothing",)


def test_what_cannot_be_combined_is_refused_and_what_nobody_holds_is_one_line(ready: Shell) -> None:
    for typed in ("--held y", "--release --peak"):
        with pytest.raises(UsageError, match="--held and --release look at the whole session"):
            ready.run(f"%fwdevices {typed}")
    text = str(Held((), unexplained={"torch cuda:0": 3 << 30}))
    assert "3.00 GiB in use that nothing that Python can see refers to" in " ".join(text.split())
