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
from ipyjaxbench.frameworks import Autotuned
from ipyjaxbench.host import data_folder
from tests.shell import Shell

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of its own import


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    """Load Inductor, which changes settings of the process when it first compiles."""
    torch.compile(square)(torch.ones(3, 3))
    # It raises this limit when it compiles, which the line above does not where it is cached.
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 2000))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache folder in use; ours is empty, too."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
    yield tmp_path / "cache"
    torch._dynamo.reset()


def square(x: Any) -> Any:
    """A product alone: Inductor compiles no C++ for it, which takes seconds."""
    return x @ x


def compiled_anew(size: int = 4, function: Any = square, backend: str = "inductor") -> DynamoWatch:
    """What was seen of a function that is compiled anew."""
    torch._dynamo.reset()
    clear_caches()
    compiled = torch.compile(function, dynamic=False, backend=backend)
    with DynamoWatch([compiled]) as watch:
        compiled(torch.ones(size, size, dtype=torch.float32))
    return watch


def reason(size: int = 4, function: Any = square) -> str:
    """Return why it was not on disk; "" where no reason is told."""
    watch = compiled_anew(size, function)
    (program,) = watch.programs()
    assert watch.programs() == [program]
    miss = program.disk_miss
    assert miss is None or program.origin == "compiled"
    return "" if miss is None else miss.words()


def test_a_setting_or_other_code_is_named_and_a_hit_is_silent(folder: Path) -> None:
    def changed(x: Any) -> Any:
        return x @ (x @ x)

    changed.__code__ = changed.__code__.replace(co_name="square")
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
    assert reason(function=changed).startswith("the program's code differs from the entry of ")
    assert codecache.FxGraphCache.load_with_key is before


def test_a_setting_of_the_environment_is_named_as_it_is_typed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reason()
    reason()
    monkeypatch.setenv("TORCHINDUCTOR_COMPILE_THREADS", "1")  # not hashed
    monkeypatch.setenv("TORCHINDUCTOR_BENCHMARK_FUSION", "1")
    with config.patch(benchmark_fusion=True), monkeypatch.context() as usual:
        usual.setattr(config._config["benchmark_fusion"], "default", True)  # as it is read
        assert reason().endswith(" today (TORCHINDUCTOR_BENCHMARK_FUSION=1 is new)")


def test_lines_of_another_version_lose_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_cache, "_changed_settings", lambda: 1 / 0)
    assert reason() == ""
    assert not data_folder("disk_cache").exists()


def test_a_cold_call_keeps_nothing_and_magics_say_why(folder: Path, shell: Shell) -> None:
    shell.run("%load_ext ipyjaxbench\nimport torch\nfrom torch._inductor import config\n"
              "@torch.compile\ndef cubed(x): return x @ (x @ x)\n"
              "x = torch.ones(6, 6)")  # fmt: skip
    shell.run("%fwtime -n 1 -r 2 --fresh cubed(x)")
    assert "DISK-MISS" not in shell.shown[0].data["text/plain"]
    (file,) = data_folder("disk_cache").iterdir()
    assert len(file.read_bytes().splitlines()) == 1
    shell.run("torch._dynamo.reset()\nwith config.patch(epilogue_fusion=False):\n"
              "    %trace_cached cubed(x)")  # fmt: skip
    text = " ".join(shell.shown[0].data["text/plain"].split())
    assert "DISK-MISS Inductor's settings differ from the entry of" in text
    clear_caches()
    shell.run("torch._dynamo.reset()\n%trace_cached -v found cubed(x)")
    (call, *_) = shell.names["found"].calls
    assert (call.state, [*call.phases]) == ("DISK", ["trace", "cache load"])
    shell.run("%fwtime -n 1 -r 2 --fresh cubed(x)")  # what a new session would find
    assert "DISK-MISS" not in shell.shown[0].data["text/plain"]
    shell.run("with config.patch(permute_fusion=True):\n"
              "    %fwtime -n 1 -r 2 --fresh cubed(x)")  # fmt: skip
    text = " ".join(shell.shown[0].data["text/plain"].split())
    assert "DISK-MISS, when it was compiled: Inductor's settings differ from the entry" in text
    assert "permute_fusion=True is new)" in text


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
        "f": torch.compile(square), "g": torch.compile(lambda x: x.T @ x), "x": torch.ones(6, 6),
        "cold": lambda: os.environ["TORCHINDUCTOR_CACHE_DIR"] != str(folder),
    }  # fmt: skip
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    compiled = [("square", "compiled"), "trace", "compile"]
    assert look("f(x)")[1] == compiled
    look("g(x)")
    before = there()
    found, told = look("f(x)", fresh=True)
    assert told == compiled
    assert found.fresh.cleared == ("Inductor's in-memory caches were cleared, those on disk kept",)
    found, told = look("g(x)\nif cold(): raise ValueError('no')", fresh=True)
    assert (told, found.fresh.cleared) == ([], ("the cold call raised ValueError: no",))
    assert there() == before
    assert look("f(x)")[1] == [("square", "disk cache"), "trace", "cache load"]


# What the cache makes of what was compiled


def uses() -> list[tuple[str, str]]:
    """State and details of what is told of a function that is compiled anew."""
    watch = compiled_anew()
    (program,) = watch.programs()
    told = watch.cache_uses()
    assert all((use.framework, use.seconds) == ("torch", program.seconds) for use in told)
    return [(use.state, use.details) for use in told]


def test_what_was_written_is_kept_and_then_loaded(folder: Path) -> None:
    assert uses() == [("kept", "")]
    assert uses() == []
    watch = compiled_anew(backend="eager")  # which has no cache
    assert (watch.compilations(), watch.cache_uses(), watch.autotuned()) == (1, (), ())


@pytest.mark.filterwarnings("ignore:dynamo_pgo force disabled")  # by the second setting
@pytest.mark.parametrize(("setting", "value"), [("fx_graph_cache", False),
                                                ("force_disable_caches", True)])  # fmt: skip
def test_a_cache_that_is_off_would_keep_it(folder: Path, setting: str, value: bool) -> None:
    with config.patch({setting: value}):
        assert uses() == [("off", f"torch._inductor.config.{setting} = {not value}")]


def test_a_graph_that_no_entry_can_hold_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise codecache.BypassFxGraphCache("as for a higher-order operator")

    monkeypatch.setattr(codecache.FxGraphCache, "_check_can_cache", refuse)
    assert uses() == [("not kept", "Inductor's cache cannot hold such a graph")]


def test_counters_that_were_emptied_meanwhile_count_from_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = Path(torch.__path__[0], "_inductor", "select_algorithm.py").read_text("utf-8")
    assert f'counters["inductor"]["{compile_counters.AUTOTUNED}"] += 1' in source
    counted = {"inductor": Counter({compile_counters.AUTOTUNED: 5})}
    monkeypatch.setattr(torch._dynamo.utils, "counters", counted)
    watch = DynamoWatch([])
    assert watch.autotuned() == ()
    counted["inductor"][compile_counters.AUTOTUNED] += 2
    assert watch.autotuned() == (Autotuned("torch", 2),)
    counted.clear()
    assert watch.autotuned() == ()
    counted["inductor"] = Counter({compile_counters.AUTOTUNED: 1})
    assert watch.autotuned() == (Autotuned("torch", 1),)
