"""JAX's persistent cache: why it had no program, provoked in a real one, and what it keeps."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src import cache_key, compilation_cache, monitoring

import ipyjaxbench
from ipyjaxbench.adapters.jax import cache_request
from ipyjaxbench.adapters.jax.compile_events import Events
from ipyjaxbench.adapters.jax.own_work import no_disk_cache
from ipyjaxbench.frameworks import CacheUse, DiskMiss
from ipyjaxbench.host import data_folder
from tests.shell import Shell

_LEAST = "jax_persistent_cache_min_compile_time_secs"
_SIZE = "jax_persistent_cache_min_entry_size_bytes"
_SETTINGS = ("jax_compilation_cache_dir", _LEAST, _SIZE)
_FLAG = "--xla_cpu_use_onednn"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache folder in use, in which all is kept; ours is empty, too."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    before = {name: getattr(jax.config, name) for name in _SETTINGS}
    place = tmp_path / "cache"
    use(place)
    yield place
    for name, value in before.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()


def use(place: object) -> None:
    values = (None if place is None else str(place), 0, 0)
    for name, value in zip(_SETTINGS, values, strict=True):
        jax.config.update(name, value)
    compilation_cache.reset_cache()


def step(x: Any) -> Any:
    return jnp.sin(x) * 3


def shows(x: Any) -> Any:
    jax.debug.callback(lambda _: None, x)
    return x + 1


def compiled(
    function: Callable[[Any], Any] = step, size: int = 4, **options: Any
) -> DiskMiss | None:
    """Return why a function that is jitted anew was not on disk; None if it was."""
    jax.clear_caches()
    x = np.ones(size, np.float32)
    with Events() as events:
        jax.jit(function, **options)(x)
    (program,) = [each for each in events.programs() if each.name == function.__name__]
    assert (program.disk_miss is None) == (program.origin == "disk cache")
    return program.disk_miss


def reason(*args: Any, **options: Any) -> str:
    miss = compiled(*args, **options)
    assert miss is not None
    return miss.words()


def uses(function: Callable[[Any], Any] = step) -> tuple[CacheUse, ...]:
    """What the cache makes of a function that is jitted and compiled anew."""
    jax.clear_caches()
    x = np.ones(4, np.float32)
    with Events() as events:
        jax.jit(function)(x).block_until_ready()
    seconds = {e.seconds for e in events.events if e.makes_program and e.name == "step"}
    assert {use.seconds for use in events.cache_uses()} <= seconds or function is not step
    return events.cache_uses()


def test_a_program_of_the_cache_is_told_and_a_cold_call_neither_reads_nor_writes_it(
    folder: Path,
) -> None:
    names = {"f": jax.jit(step), "x": jnp.ones(4)}

    def measured(**options: Any) -> ipyjaxbench.Measurement:
        jax.clear_caches()
        return ipyjaxbench.measure_code("f(x)", names, number=1, repeat=2, **options)

    def told(found: Any) -> tuple[list[str], list[str]]:
        origins = [each.origin for each in found.programs if each.name == "step"]
        return origins, [*found.phases]

    assert told(measured()) == (["compiled"], ["trace", "lower", "compile"])
    kept = sorted(folder.iterdir())
    again = measured(fresh=True)
    assert told(again) == (["disk cache"], ["trace", "lower", "cache load"])
    assert again.fresh is not None
    assert told(again.fresh) == (["compiled"], ["trace", "lower", "compile"])
    assert again.fresh.cleared == ()
    assert sorted(folder.iterdir()) == kept
    assert compilation_cache._cache_checked
    assert compilation_cache._cache_used


def test_flags_that_count_are_named_and_others_make_no_miss(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled()
    monkeypatch.setenv("XLA_FLAGS", f"{_FLAG}=true")
    assert reason().startswith("XLA flags differ from the entry of ")
    monkeypatch.setenv("XLA_FLAGS", f"{_FLAG}=false")
    assert reason().endswith(f" today ({_FLAG}=false, was true)")
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=/nowhere")
    assert compiled() is None


def test_other_parts_are_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled()
    options = {"xla_cpu_enable_fast_min_max": True}
    assert "(xla_cpu_enable_fast_min_max=True is new)" in reason(compiler_options=options)
    monkeypatch.setattr(cache_key, "jaxlib_version_str", "9.9.9")
    assert reason().endswith(f"(9.9.9, was {jax.lib.__version__})")
    monkeypatch.setattr(cache_key, "custom_hook", lambda: "mine")
    assert reason().startswith("custom hook differs")


def test_of_the_program_it_is_said_what_differs(folder: Path) -> None:
    captured = np.arange(100, dtype=np.float32)

    def adds(x: Any) -> Any:
        return x[:1] + jnp.asarray(captured)

    compiled(adds)
    assert reason(adds, 5) == "the cache folder has no entry for these argument types"
    captured += 1
    assert "the program's captured arrays differ" in reason(adds)

    def changed(x: Any) -> Any:
        return x[:1] - jnp.asarray(captured)

    changed.__name__ = "adds"
    assert "the program's code differs" in reason(changed)


def test_an_entry_that_is_gone_or_broken_is_told_from_none(folder: Path) -> None:
    compiled()
    (entry,) = folder.glob("jit_step-*-cache")
    entry.write_bytes(b"no program")
    with pytest.warns(UserWarning, match="Error reading"):
        assert reason().endswith("is there, but could not be read")
    entry.unlink()
    assert reason().endswith("is gone from the cache folder")


def test_what_keeps_a_program_out_is_said(folder: Path) -> None:
    jax.config.update(_LEAST, 60)
    for _ in range(2):
        assert reason().endswith(f"not cached: below 60 s ({_LEAST})")
    assert [(use.state, use.details) for use in uses()] == [("not kept", f"below 60 s ({_LEAST})")]
    jax.config.update(_LEAST, 0)
    jax.config.update(_SIZE, 2**30)
    assert reason().endswith(f"smaller than 1.00 GiB ({_SIZE})")
    called_back = "it calls back into Python (as jax.debug.print does)"
    assert called_back in reason(shows)
    assert [(use.state, use.details) for use in uses(shows)] == [("not kept", called_back)]
    assert not data_folder("disk_cache").exists() or not [*data_folder("disk_cache").iterdir()]


def test_entries_that_were_made_while_nobody_looked_are_learned_from_a_hit(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert reason() == "the cache folder has no entry for this function"
    shutil.rmtree(data_folder("disk_cache"))
    assert "while ipyjaxbench did not look" in reason(size=5)
    shutil.rmtree(data_folder("disk_cache"))
    assert compiled() is None
    monkeypatch.setenv("XLA_FLAGS", f"{_FLAG}=true")
    assert reason().startswith("XLA flags differ from")


def test_a_folder_that_cannot_be_used_is_one_line(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    use(tmp_path / "file")
    with pytest.warns(UserWarning, match="Error"):
        assert reason() == f"the cache folder cannot be used: {tmp_path}/file: Not a directory"


def test_without_a_cache_nothing_is_looked_for_or_written(folder: Path) -> None:
    use(None)
    for context in (nullcontext(), no_disk_cache()):
        with context, Events() as events:
            jax.jit(lambda x: x + 8)(np.ones(8, np.float32))
        assert [program.disk_miss for program in events.programs()] == [None]
        use(folder)
    assert not data_folder("disk_cache").exists()


def test_a_version_that_hashes_other_parts_gives_no_reason(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled()
    monkeypatch.setattr(
        compilation_cache, "get_cache_key", lambda *_: f"jit_step-{os.urandom(32).hex()}"
    )
    assert "unknown: this version of JAX makes its keys of other parts" in reason()
    monkeypatch.undo()


_CELL = """
import jax, jax.numpy as jnp
@jax.jit
def slope(x): return jnp.cos(x) * 5
x = jnp.ones(9)
"""


def test_magics_say_why(folder: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.run("%load_ext ipyjaxbench" + _CELL)
    shell.run("%trace_cached slope(x)")
    text = " ".join(shell.shown[0].data["text/plain"].split())
    assert "DISK-MISS the cache folder has no entry for this function" in text
    monkeypatch.setenv("XLA_FLAGS", f"{_FLAG}=true")
    shell.run(_CELL + "%fwtime -n 1 -r 2 --fresh slope(x)")
    assert f"({_FLAG}=true is new)" in " ".join(shell.shown[0].data["text/plain"].split())
    shell.run("%fwtime -n 1 -r 2 --fresh slope(x)")  # compiled before, so that none is looked for
    text = " ".join(shell.shown[0].data["text/plain"].split())
    assert "DISK-MISS, when it was compiled: XLA flags differ" in text
    shell.run("jax.clear_caches()")
    for magic in ("%trace_cached", "%fwtime -n 1 -r 2 --fresh"):
        shell.run(f"{magic} slope(x)")
        assert "DISK-MISS" not in shell.shown[0].data["text/plain"]


TURN_ON = 'jax.config.update("jax_compilation_cache_dir", ...)'


def test_a_cache_that_is_off_would_keep_what_it_can(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(None)
    before = [*monitoring._event_listeners]
    assert [(use.framework, use.state, use.details) for use in uses()] == [("jax", "off", TURN_ON)]
    assert [*monitoring._event_listeners] == before
    for name, value, usual in (
        (_LEAST, 3600, 0), (_SIZE, 1, 0),  # how large an entry is is not known
        ("jax_enable_compilation_cache", False, True),  # the user wants none
    ):  # fmt: skip
        jax.config.update(name, value)
        compilation_cache.reset_cache()  # or it would not look at them anew
        assert uses() == ()
        jax.config.update(name, usual)
    compilation_cache.reset_cache()
    assert uses(shows) == ()
    with no_disk_cache():
        assert uses() == ()
    monkeypatch.setattr(cache_request, "_SEARCHING", "of_another_version")
    assert uses() == ()


def test_what_was_written_is_kept_and_then_loaded(folder: Path) -> None:
    assert [(use.state, use.details) for use in uses()] == [("kept", "")]
    assert uses() == ()
