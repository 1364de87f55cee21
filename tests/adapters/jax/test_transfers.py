"""What code copies of JAX's arrays; copies between devices in a process of its own with four."""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src import array as jax_array
from jax._src.interpreters import pxla

import ipyjaxbench
from ipyjaxbench import Transfers
from ipyjaxbench.adapters.jax import transfers
from ipyjaxbench.device.copy_watch import CopyWatch
from ipyjaxbench.device.watch_transfers import transfer_code
from ipyjaxbench.usercode.snippet import Source
from tests.adapters import late
from tests.adapters.jax.written import written


def ran(code: str, **names: Any) -> Transfers:
    found, error = transfer_code(Source.plain(code), {"jax": jax, "jnp": jnp, "np": np, **names})
    assert error is None
    return found


def rows(found: Transfers) -> list[tuple[str, str, int, bool, str]]:
    return [(t.text, t.direction, t.copied, t.asked, t.free) for t in found.transfers]


@pytest.fixture
def x() -> Any:
    return jnp.ones((100, 10)) * 2


@pytest.fixture
def n() -> Any:
    """At an address that no device takes as it is."""
    raw = np.zeros(4000 + 128, np.uint8)
    start = -raw.ctypes.data % 64 + 4
    return raw[start : start + 4000].view(np.float32).reshape(100, 10)


def test_what_the_cpu_reads_in_place_is_no_copy(x: Any) -> None:
    code = "a = np.asarray(x)\nb = np.array(x)\nfloat(x[0, 0])\nnp.sin(x)\nx.tolist()"
    shares = "shares memory"
    assert rows(ran(code, x=x)) == [
        ("np.asarray(x)", "to the host", 0, True, shares),
        ("np.array(x)", "to the host", 4000, True, ""),
        ("float(x[0, 0])", "to the host", 0, True, shares),
        ("np.sin(x)", "to the host", 0, False, shares),
        ("x.tolist()", "to the host", 0, True, shares),
    ]


def test_numpy_arrays_go_to_the_device_in_each_call(x: Any, n: Any) -> None:
    f = jax.jit(lambda a: a + 1)
    f(n)  # from the second call on no Python of JAX's runs
    x + n
    found = ran("f(n)\nf(n)\nx + n\nn * x\njnp.dot(x, n.T)\nf(x)\njnp.zeros_like(n)", f=f, x=x, n=n)
    assert rows(found) == [
        (text, "to devices", 4000, False, "")
        for text in ("f(n)", "f(n)", "x + n", "n * x", "jnp.dot(x, n.T)")
    ]
    assert all(t.seconds is not None and t.seconds > 0 for t in found.transfers)


@pytest.mark.parametrize(("memory", "is_measured"), [(40_000, True), (39_999, False)])
def test_a_copy_is_measured_alone_where_a_tenth_of_the_memory_is_enough(
    memory: int, is_measured: bool, x: Any, n: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ipyjaxbench.adapters.jax.transfers.host_memory", lambda: memory)
    x + n  # from the second time on no Python of JAX's runs, which would be timed itself
    (only,) = ran("x + n", x=x, n=n).transfers
    assert only.copied == 4000
    assert (only.seconds is not None) is is_measured


def test_numbers_and_deleted_arrays_are_no_copies(x: Any, n: Any) -> None:
    x + 1
    code = "jnp.asarray(2.0)\nx + 1\njax.device_put(x, x.sharding)\njnp.shape(n)"
    assert rows(ran(f"{code}\njax.device_put(np.float32(3))", x=x, n=n)) == []
    x.delete()
    _, error = transfer_code(Source.plain("np.asarray(x)"), {"x": x, "np": np})
    assert isinstance(error, RuntimeError)
    assert "deleted" in str(error)


def test_data_that_is_put_is_asked_for_and_what_jax_makes_of_others_takes_it_too(n: Any) -> None:
    by_row, total = jax.vmap(lambda a: (a * 2).sum()), lambda a: (a * 2).sum()
    by_row(n)
    code = "jax.device_put(n)\njnp.asarray(n)\njnp.array(n)\nby_row(n)\ntotal(n)"
    found = ran(code, n=n, by_row=by_row, total=total)
    assert [(t.line, t.asked, t.copied) for t in found.transfers] == [
        (1, True, 4000), (2, True, 4000), (3, True, 4000), (4, False, 4000),
    ]  # fmt: skip


def test_numbers_that_change_their_type_on_the_way_are_told_once_as_what_arrives() -> None:
    wide = np.ones((100, 10))
    assert wide.dtype == np.float64
    f = jax.jit(lambda a, b: a + b)
    code = "jax.device_put(wide)\njnp.asarray(wide)\nf(wide, wide.T.copy().T)\nf(wide, wide)"
    found = ran(code, wide=wide, f=f).transfers
    assert {t.dtype for t in found} == {"float32"}
    assert [t.nbytes for t in found] == [4000, 4000, 8000, 8000]
    assert [t.asked for t in found] == [True, True, False, False]


def test_libraries_whose_names_begin_as_jaxs_does_are_not_jaxs() -> None:
    folder = Path(jax.__file__).parent
    for file, is_jaxs in ((folder / "a.py", True), (f"{folder}typing/a.py", False)):
        function = eval(compile("lambda x: x", str(file), "eval"))
        assert transfers._is_of_jax(function) is is_jaxs


def test_waiting_for_the_computation_is_no_part_of_the_copy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def now() -> float:
        read = real()
        late.released.set()  # goes on when the wait for it has begun
        return read

    real = CopyWatch._now
    monkeypatch.setattr(CopyWatch, "_now", staticmethod(now))
    found = ran("np.array(held())", held=late.start_held)
    (only,) = found.transfers
    assert only.seconds is not None
    assert only.waited >= late.SECONDS
    assert found.seconds >= only.waited + only.seconds > only.waited


#: Among few names: all that they lead to is looked at before and after.
BLOCK = """\
with transfers() as t:
    y = jax.device_put(n)
    float(y.sum())
return t"""


def test_a_block_tells_what_it_copies_and_what_it_cannot_see_and_nothing_stays_replaced(
    n: Any,
) -> None:
    before = vars(jax_array.ArrayImpl)["_value"], pxla.batched_device_put
    found = written("n", BLOCK, transfers=ipyjaxbench.transfers)(n).transfers
    assert [(each.text, each.direction) for each in found.transfers] == [
        ("jax.device_put(n)", "to devices"), ("float(y.sum())", "to the host"),
    ]  # fmt: skip
    assert "y" in [each.name for each in found.created]
    assert any("NumPy arrays passed to compiled functions" in words for words in found.unseen)
    _, error = transfer_code(Source.plain("{}['a']"), {})
    assert isinstance(error, KeyError)
    assert (vars(jax_array.ArrayImpl)["_value"], pxla.batched_device_put) == before


def double(x: Any) -> Any:
    return 2 * x


IO = jax.experimental.io_callback


@pytest.mark.parametrize(
    ("code", "text", "nbytes"),
    [
        ("jax.pure_callback(double, s, x)", "argument of double", 4000),
        ("jax.jit(lambda x: jax.pure_callback(double, s, x))(x)", "argument of double", 4000),
        ("jax.jit(lambda x: io(double, s, x, ordered=True))(x)", "argument of double", 4000),
        ("jax.jit(lambda x: jax.pure_callback(double, big, x @ x.T @ x))(y)",
         "argument of double", 4_000_000),  # in a thread of XLA's
        ("jax.jit(lambda x: (jax.debug.callback(double, x), x)[1])(x)",
         "argument of a callback", 4000),
    ],
)  # fmt: skip
def test_what_a_callback_gets_is_named_by_it(x: Any, code: str, text: str, nbytes: int) -> None:
    y = jnp.ones((1000, 1000))
    s, big = (jax.ShapeDtypeStruct(each.shape, each.dtype) for each in (x, y))
    names = {"x": x, "y": y, "s": s, "big": big, "double": double, "io": IO}
    found = rows(ran(f"{code}.block_until_ready()", **names))
    assert {row[:4] for row in found if row[2]} == {(text, "to devices", nbytes, False)}


def test_what_is_put_for_the_call_itself_has_its_line(x: Any, n: Any) -> None:
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    put, called, *_ = rows(ran("jax.pure_callback(double, s, n)", double=double, s=shape, n=n))
    assert (put[0], called[0]) == ("jax.pure_callback(double, s, n)", "argument of double")


def test_nothing_is_traced_again(x: Any) -> None:
    traces: list[int] = []
    f = jax.jit(lambda a: (traces.append(1), a + 1)[1])
    f(x)
    ran("f(x)", f=f, x=x)
    f(x)
    assert traces == [1]
