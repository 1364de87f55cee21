"""JAX's log is what it is without the magics: for handlers of the user's, and in the cell."""

import itertools
import logging
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src import compilation_cache
from jax._src.interpreters import partial_eval

from ipyjaxbench.adapters.jax.retracing.call_watch import JaxCallWatch
from ipyjaxbench.adapters.jax.retracing.safe_explanations import SafeExplanations
from ipyjaxbench.adapters.jax.synchronization import InFlight, local_devices
from tests.shell import Shell

_SETTINGS = {
    "jax_compilation_cache_dir": None,
    "jax_persistent_cache_min_compile_time_secs": 0,
    "jax_persistent_cache_min_entry_size_bytes": 0,
    "jax_log_compiles": False,
    "jax_explain_cache_misses": False,
}
#: What differs from run to run: times, keys, identities and the name of a cell.
_VARYING = re.compile(r"[0-9a-f]{64}|(<ipython-input|/tmp/)\S+|\d+(\.\d+)?(e-?\d+)?")
_NUMBERS = itertools.count()
#: A miss of the tracing cache, of the disk cache, what is written there, and compiling.
_WORDS = ("TRACING CACHE MISS", "PERSISTENT COMPILATION CACHE MISS", "Writing jit_f", "Compiling")


@pytest.fixture
def seen() -> Iterator[list[Any]]:
    """What a handler of the user's gets of JAX's messages."""
    logger, handler = logging.getLogger("jax"), logging.Handler()
    seen: list[Any] = []

    def emit(record: logging.LogRecord) -> None:
        seen.append((record.name, record.levelname, _VARYING.sub("#", record.getMessage())))

    level, handler.emit = logger.level, emit  # type: ignore[method-assign]
    logger.addHandler(handler)
    yield seen
    logger.removeHandler(handler)
    logger.setLevel(level)


@pytest.fixture
def session(
    shell: Shell, seen: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], list[Any]]]:
    """Types a cell where the disk cache is in use and empty, and gives what is logged of it."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    jax.jit(jnp.sin)(1.0)  # what JAX logs once in a process it has logged then
    before = {name: getattr(jax.config, name) for name in _SETTINGS}
    for name, value in _SETTINGS.items():
        jax.config.update(name, value)

    def run(cell: str) -> list[Any]:
        number = next(_NUMBERS)
        jax.config.update("jax_compilation_cache_dir", str(tmp_path / str(number)))
        compilation_cache.reset_cache()
        jax.clear_caches()
        shell.names |= {"jax": jax, "x": np.ones(3, np.float32)}
        shell.run("@jax.jit\ndef f(x):\n    return jax.numpy.sin(x) + 1")
        seen.clear()
        shell.run(f"{cell}  # {number}")
        return [*seen]

    yield run
    for name, value in before.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()


@pytest.mark.parametrize(("turned_on", "level", "words"), [
    ((), logging.NOTSET, ()),
    ((), logging.DEBUG, _WORDS[1:]),
    (("jax_log_compiles", "jax_explain_cache_misses"), logging.NOTSET, _WORDS),
    (("jax_explain_cache_misses",), logging.ERROR, ()),
])  # fmt: skip
def test_handlers_get_what_they_get_without_the_magics(
    session: Callable[[str], list[Any]],
    turned_on: tuple[str, ...],
    level: int,
    words: tuple[str, ...],
) -> None:
    logging.getLogger("jax").setLevel(level)
    for name in turned_on:
        jax.config.update(name, True)
    plain = session("y = f(x)")
    found = {word for word in _WORDS for _, _, text in plain if word in text}
    assert found == {*words}
    assert session("%%trace_cached -q\ny = f(x)") == plain
    assert session("%%fwtime -q -n 1 -r 1\ny = f(x)") == plain


def test_of_a_function_whose_caller_jax_does_not_know_nothing_is_shown_either(
    session: Callable[[str], list[Any]],
) -> None:
    cell = "g = jax.jit(lambda x: x.sum()); y = jax.jit(jax.grad(g))(x)"
    assert session(cell) == []
    assert session(f"%%trace_cached -q\n{cell}") == []


def test_programs_of_ours_are_neither_logged_nor_kept(
    session: Callable[[str], list[Any]], seen: list[Any]
) -> None:
    session("x")  # the disk cache is in use from here on
    logging.getLogger("jax").setLevel(logging.DEBUG)
    for name in ("jax_log_compiles", "jax_explain_cache_misses"):
        jax.config.update(name, True)
    InFlight(local_devices).prepare()
    assert seen == []
    assert [*Path(jax.config.jax_compilation_cache_dir).rglob("*canary*")] == []


def loggers() -> list[Any]:
    names = [name for name in logging.root.manager.loggerDict if name.startswith("jax")]
    every = [logging.getLogger(name) for name in sorted(names)]
    return [(e.name, e.level, e.disabled, e.propagate, [*e.handlers], [*e.filters]) for e in every]


@pytest.mark.parametrize("silence", [{"disabled": True}, {"level": logging.ERROR}])
def test_traces_are_told_apart_where_the_user_has_silenced_jax(silence: dict[str, Any]) -> None:
    """Below `jax.grad` JAX reports no tracing, and only its log has it."""
    logger = logging.getLogger("jax._src.interpreters.partial_eval")
    before = {name: getattr(logger, name) for name in silence}
    with JaxCallWatch():
        pass  # a logger that this version of JAX lacks is there from now on
    try:
        vars(logger).update(silence)
        logger.manager._clear_cache()
        left = loggers()
        jitted = jax.jit(lambda x: (x * 7).sum())
        function = jax.grad(jitted)
        with JaxCallWatch() as watch:
            mark = watch.begin_call(function, (jnp.ones(3),), {})
            function(jnp.ones(3))
            outcome = watch.end_call(function, mark)
        assert outcome is not None
        assert outcome.state == "TRACED"
        assert loggers() == left
    finally:
        vars(logger).update(before)
        logger.manager._clear_cache()


class Silent:
    """A static argument that nobody can print."""

    def __repr__(self) -> str:
        raise ValueError("not printed")


@pytest.mark.skipif(jax.__version_info__ < (0, 10), reason="this version explains other things")
def test_jax_explains_to_other_threads_as_without_a_log(seen: list[Any]) -> None:
    """From 0.11 on it prints no static argument, so that nothing is raised."""
    jitted = jax.jit(lambda x, _: x, static_argnums=1)

    def told() -> tuple[str, list[Any]]:
        seen.clear()
        error = ""
        try:
            jitted(1.0, Silent())
        except ValueError as raised:
            error = str(raised)
        return error, [*seen]

    jax.config.update("jax_explain_cache_misses", True)
    try:
        told()  # a first trace, which has nothing to be told from
        with ThreadPoolExecutor(1) as thread, JaxCallWatch():
            assert told()[0] == ""
            elsewhere = thread.submit(told).result()
        error, messages = told()
    finally:
        jax.config.update("jax_explain_cache_misses", False)
    assert elsewhere == (error, messages)
    is_printed = jax.__version_info__ < (0, 11)
    assert error == ("not printed" if is_printed else "")
    explained = ["explanation unavailable" in text for *_, text in messages]
    assert explained == ([] if is_printed else [True])


@pytest.mark.skipif(jax.__version_info__ < (0, 10), reason="this version explains other things")
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_two_logs_are_closed_in_any_order(order: tuple[int, int]) -> None:
    jitted = jax.jit(lambda x, _: x, static_argnums=1)
    before = partial_eval.diff_tracing_cache_keys
    explained = [SafeExplanations() for _ in range(2)]
    for each in explained:
        each.__enter__()
    for left, number in enumerate(order):
        with jax.explain_cache_misses(True):
            jitted(1.0, Silent())
        explained[number].__exit__()
        assert (partial_eval.diff_tracing_cache_keys is before) is bool(left)


def test_what_another_one_put_in_its_place_meanwhile_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    own = getattr(partial_eval, "diff_tracing_cache_keys", None)
    monkeypatch.setattr(partial_eval, "diff_tracing_cache_keys", own, raising=False)
    with SafeExplanations():
        partial_eval.diff_tracing_cache_keys = max
    assert partial_eval.diff_tracing_cache_keys is max
