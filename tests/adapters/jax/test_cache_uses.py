"""What JAX's persistent cache makes of what was compiled: off, kept, or not kept, and why."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src import compilation_cache, monitoring

import ipyjaxbench
from ipyjaxbench.adapters.jax import cache_request
from ipyjaxbench.adapters.jax.compilation import no_disk_cache
from ipyjaxbench.adapters.jax.compile_events import Events
from ipyjaxbench.frameworks import CacheUse
from ipyjaxbench.timing import session

TURN_ON = 'jax.config.update("jax_compilation_cache_dir", ...)'
_SETTINGS = (
    "jax_compilation_cache_dir",
    "jax_enable_compilation_cache",
    "jax_persistent_cache_min_compile_time_secs",
    "jax_persistent_cache_min_entry_size_bytes",
)


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The cache is off; were it on, it would keep all."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    before = {name: getattr(jax.config, name) for name in _SETTINGS}
    set_to(jax_compilation_cache_dir=None, jax_persistent_cache_min_compile_time_secs=0)
    yield
    set_to(**before)


def set_to(**values: Any) -> None:
    """Set options of the cache; it looks at them anew."""
    for name, value in values.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()


def step(x: Any) -> Any:
    return jnp.sin(x) * 3


def shows(x: Any) -> Any:
    jax.debug.callback(lambda _: None, x)
    return x + 1


def uses(function: Any = step) -> tuple[CacheUse, ...]:
    """What is told of a function that is jitted and compiled anew."""
    jax.clear_caches()
    x = np.ones(4, np.float32)
    with Events() as events:
        jax.jit(function)(x).block_until_ready()
    (seconds,) = [e.seconds for e in events.events if e.makes_program and e.name == "step"] or [0]
    for use in events.cache_uses():
        assert use.framework == "jax"
        assert math.isclose(use.seconds, seconds) or function is not step
    return events.cache_uses()


def test_a_cache_that_is_off_would_keep_it() -> None:
    before = [*monitoring._event_listeners]
    (use,) = uses()
    assert (use.state, use.details) == ("off", TURN_ON)
    assert [*monitoring._event_listeners] == before


@pytest.mark.parametrize(
    "values",
    [
        {"jax_persistent_cache_min_compile_time_secs": 3600},
        {"jax_persistent_cache_min_entry_size_bytes": 1},  # how large an entry is is not known
        {"jax_enable_compilation_cache": False},  # the user wants none
    ],
    ids=lambda values: next(iter(values)),
)
def test_what_it_would_not_keep_is_not_promised(values: dict[str, Any]) -> None:
    set_to(**values)
    assert uses() == ()


def test_what_calls_back_into_python_is_never_kept(tmp_path: Path) -> None:
    assert uses(shows) == ()
    set_to(jax_compilation_cache_dir=str(tmp_path / "cache"))
    (use,) = uses(shows)
    assert (use.state, use.details) == (
        "not kept", "it calls back into Python (as jax.debug.print does)",
    )  # fmt: skip


def test_a_cold_call_is_of_no_use_to_it() -> None:
    with no_disk_cache():
        assert uses() == ()


def test_a_version_that_asks_elsewhere_is_not_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_request, "_SEARCHING", "of_another_version")
    assert uses() == ()


def test_what_was_written_is_kept_and_then_loaded(tmp_path: Path) -> None:
    set_to(jax_compilation_cache_dir=str(tmp_path / "cache"))
    (use,) = uses()
    assert (use.state, use.details) == ("kept", "")
    assert uses() == ()


def test_why_it_did_not_keep_it_is_told(tmp_path: Path) -> None:
    set_to(
        jax_compilation_cache_dir=str(tmp_path / "cache"),
        jax_persistent_cache_min_compile_time_secs=3600,
    )
    (use,) = uses()
    assert (use.state, use.details) == (
        "not kept", "below 3600 s (jax_persistent_cache_min_compile_time_secs)",
    )  # fmt: skip


@pytest.mark.parametrize(("least", "told"), [(0.0, True), (3600.0, False)])
def test_a_report_says_it_where_compiling_took_long(
    monkeypatch: pytest.MonkeyPatch, least: float, told: bool
) -> None:
    monkeypatch.setattr(session, "LEAST_SECONDS", least)
    names = {"f": jax.jit(lambda x: jnp.cos(x) * 5), "x": np.ones(4, np.float32)}
    m = ipyjaxbench.measure_code("f(x)", names, number=2, repeat=2)
    assert [use.state for use in m.caches] == ["off"] * told
    shown = " ".join(str(m).split())
    assert (f"disk cache off; with {TURN_ON} a new session compiles" in shown) is told
    assert type(m).from_dict(m.to_dict()).caches == m.caches
    assert ipyjaxbench.measure_code("f(x)", names, number=2, repeat=2).caches == ()
