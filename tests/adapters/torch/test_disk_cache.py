"""Why Inductor's cache on disk had no graph: provoked in a real cache, each with its twin."""

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch._inductor import codecache, config
from torch._inductor.utils import clear_caches

import ipyjaxbench
from ipyjaxbench.adapters.torch import compile_counters, disk_cache
from ipyjaxbench.adapters.torch.compilation import DynamoWatch
from ipyjaxbench.frameworks import Autotuned, CacheUse
from ipyjaxbench.host import data_folder
from tests.shell import Shell

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of its own import


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    """Load Inductor, which changes settings of the process when it first compiles."""
    torch.compile(slope)(torch.ones(3))
    # It raises this limit when it compiles, which the line above does not where it is cached.
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 2000))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache folder in use; ours is empty, too."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
    yield tmp_path / "cache"
    torch._dynamo.reset()


def slope(x: Any) -> Any:
    return torch.cos(x) * 3


def reason(size: int = 4, function: Any = slope) -> str:
    """Return why a function that is compiled anew was not on disk; "" where none is told."""
    torch._dynamo.reset()
    clear_caches()
    compiled = torch.compile(function, dynamic=False)
    with DynamoWatch([compiled]) as watch:
        compiled(torch.ones(size, dtype=torch.float32))
    (program,) = watch.programs()
    assert watch.programs() == [program]
    miss = program.disk_miss
    assert miss is None or program.origin == "compiled"
    return "" if miss is None else miss.words()


def test_a_setting_that_counts_is_named_and_a_hit_is_silent(folder: Path) -> None:
    before = codecache.FxGraphCache.load_with_key
    assert reason() == ""  # entries may have been made while nobody looked
    assert reason() == ""
    assert folder.exists()
    with config.patch(epilogue_fusion=False):
        assert reason().endswith(" today (epilogue_fusion=False is new)")
    assert reason(5) == ""  # that the arguments differ is why it was traced
    before_type = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.float64)
        assert "PyTorch's settings differ" in reason()
    finally:
        torch.set_default_dtype(before_type)
    assert codecache.FxGraphCache.load_with_key is before


def test_other_code_of_the_same_name_is_told(folder: Path) -> None:
    def changed(x: Any) -> Any:
        return torch.cos(x) * 4

    changed.__code__ = changed.__code__.replace(co_name="slope")
    assert reason() == ""
    assert reason(function=changed).startswith("the program's code differs from the entry of ")


def test_lines_of_another_version_lose_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_cache, "_changed_settings", lambda: 1 / 0)
    assert reason() == ""
    assert not data_folder("disk_cache").exists()


def test_a_cold_call_keeps_nothing_and_magics_say_why(folder: Path, shell: Shell) -> None:
    shell.run("%load_ext ipyjaxbench\nimport torch\nfrom torch._inductor import config\n"
              "@torch.compile\ndef rise(x): return torch.exp(x) * 7\n"
              "x = torch.ones(6)")  # fmt: skip
    shell.run("%fwtime -n 1 -r 2 --fresh rise(x)")
    assert "DISK-MISS" not in shell.shown[0].data["text/plain"]
    (file,) = data_folder("disk_cache").iterdir()
    assert len(file.read_bytes().splitlines()) == 1
    shell.run("torch._dynamo.reset()\nwith config.patch(epilogue_fusion=False):\n"
              "    %trace_cached rise(x)")  # fmt: skip
    text = " ".join(shell.shown[0].data["text/plain"].split())
    assert "DISK-MISS Inductor's settings differ from the entry of" in text
    clear_caches()
    shell.run("torch._dynamo.reset()\n%trace_cached -v found rise(x)")
    (call, *_) = shell.names["found"].calls
    assert (call.state, [*call.phases]) == ("DISK", ["trace", "cache load"])


def test_the_cache_on_disk_is_told_and_left_alone_by_a_cold_call(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(code: str, **options: Any) -> tuple[Any, list[Any]]:
        torch._dynamo.reset()
        clear_caches()
        found = ipyjaxbench.measure_code(code, names, number=1, repeat=2, **options)
        told = found.fresh or found
        return found, [*((each.name, each.origin) for each in told.programs), *told.phases]

    def there() -> Any:
        files = {path for path in folder.rglob("*") if path.is_file()}
        return files, [*temporary.iterdir()], dict(os.environ)

    names: dict[str, Any] = {
        "f": torch.compile(slope), "g": torch.compile(lambda x: x.T @ x), "x": torch.ones(6, 6),
        "cold": lambda: os.environ["TORCHINDUCTOR_CACHE_DIR"] != str(folder),
    }  # fmt: skip
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    compiled = [("slope", "compiled"), "trace", "compile"]
    assert look("f(x)")[1] == compiled
    look("g(x)")
    before = there()
    found, told = look("f(x)", fresh=True)
    assert told == compiled
    assert found.fresh.cleared == ("Inductor's in-memory caches were cleared, those on disk kept",)
    found, told = look("g(x)\nif cold(): raise ValueError('no')", fresh=True)
    assert (told, found.fresh.cleared) == ([], ("the cold call raised ValueError: no",))
    assert there() == before
    assert look("f(x)")[1] == [("slope", "disk cache"), "trace", "cache load"]


# What the cache makes of what was compiled


def uses(function: Any = slope) -> tuple[CacheUse, ...]:
    """What is told of a function that is compiled anew."""
    torch._dynamo.reset()
    clear_caches()
    compiled = torch.compile(function, dynamic=False)
    with DynamoWatch([compiled]) as watch:
        compiled(torch.ones(4))
    for use in watch.cache_uses():
        (program,) = watch.programs()
        assert (use.framework, use.seconds) == ("torch", program.seconds)
    return watch.cache_uses()


def test_what_was_written_is_kept_and_then_loaded(folder: Path) -> None:
    assert [(use.state, use.details) for use in uses()] == [("kept", "")]
    assert uses() == ()


@pytest.mark.filterwarnings("ignore:dynamo_pgo force disabled")  # by the second setting
@pytest.mark.parametrize(("setting", "value"), [("fx_graph_cache", False),
                                                ("force_disable_caches", True)])  # fmt: skip
def test_a_cache_that_is_off_would_keep_it(folder: Path, setting: str, value: bool) -> None:
    with config.patch({setting: value}):
        (use,) = uses()
    turn_on = f"torch._inductor.config.{setting} = {not value}"
    assert (use.state, use.details) == ("off", turn_on)


def test_a_graph_that_no_entry_can_hold_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise codecache.BypassFxGraphCache("as for a higher-order operator")

    monkeypatch.setattr(codecache.FxGraphCache, "_check_can_cache", refuse)
    (use,) = uses()
    assert (use.state, use.details) == ("not kept", "Inductor's cache cannot hold such a graph")


def test_what_another_backend_compiles_has_no_cache(folder: Path) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(slope, backend="eager")
    with DynamoWatch([compiled]) as watch:
        compiled(torch.ones(4))
    assert (watch.compilations(), watch.cache_uses(), watch.autotuned()) == (1, (), ())


def test_counters_that_were_emptied_meanwhile_count_from_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted = {"inductor": Counter({compile_counters.AUTOTUNED: 5})}
    monkeypatch.setattr(torch._dynamo.utils, "counters", counted)
    counters = compile_counters.Counters()
    assert counters.since(compile_counters.AUTOTUNED) == 0
    counted["inductor"][compile_counters.AUTOTUNED] += 2
    assert counters.since(compile_counters.AUTOTUNED) == 2
    counted.clear()
    assert counters.since(compile_counters.AUTOTUNED) == 0
    counted["inductor"] = Counter({compile_counters.AUTOTUNED: 1})
    assert counters.since(compile_counters.AUTOTUNED) == 1


def multiplied(x: Any) -> Any:
    return torch.bmm(x, x)


@pytest.mark.filterwarnings("ignore")  # Inductor warns of what its own code uses
def test_operations_for_which_candidates_are_run_are_counted(folder: Path) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(multiplied, mode="max-autotune-no-cudagraphs", dynamic=False)
    with DynamoWatch([compiled]) as watch:
        compiled(torch.ones(2, 64, 64))
    assert watch.autotuned() == (Autotuned("torch", 1),)
