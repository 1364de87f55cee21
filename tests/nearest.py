"""The tests that are nearest to what was changed, by imports."""

import re
import subprocess
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import grimp

ROOT = Path(__file__).parent.parent
_OF_DOCUMENTS = ("tests.test_readme", "tests.test_reference", "tests.test_rooms")
_PACKAGES = ("ipyjaxbench", "tests")
_SHELL, _MAGICS = "tests.shell", "ipyjaxbench.jupyter.magics"  # a fixture loads these there
#: A module in a text, as in "steps.loop_times", f"{_HERE}.waits:Waits" or a stub's imports.
_NAMED = re.compile(
    r"""["}]([\w.]*\.\w+)["']|["}.]([\w.]+):[A-Z]\w*["']|^from ([\w.]+) import""", re.MULTILINE
)
_ALL_OF = re.compile(r"""["'](ipyjaxbench\.\w+)\.\{""")  # f"ipyjaxbench.jupyter.{name}"


def changed_files(root: Path = ROOT) -> list[str]:
    """Paths below the root that differ from the last commit on main, and those that are new."""
    told = ("diff", "--name-only", "main"), ("ls-files", "--others", "--exclude-standard")
    found = [
        subprocess.run(["git", *each], cwd=root, capture_output=True, text=True, check=True).stdout
        for each in told
    ]
    return sorted({line for text in found for line in text.splitlines()})


def find_tests(changed: Iterable[str], graph: "grimp.ImportGraph | None" = None) -> list[Path]:
    """Files of tests that changed files can reach, the nearest first.

    A module is as near as imports that lead to it are few, and of two as near the one that lies
    where the changed one does; what is no module is near to the tests of documents.
    """
    graph = graph or imports()
    reached: dict[str, None] = {}
    nearest = [name for path in changed for name in _modules(path) if name in graph.modules]
    folders = {part for name in nearest for part in name.split(".")}
    while nearest:
        reached |= dict.fromkeys(nearest)
        importers = (graph.find_modules_that_directly_import(module) for module in nearest)
        new = {each for found in importers for each in found}.difference(reached)
        nearest = sorted(new, key=lambda name: (-len(folders.intersection(name.split("."))), name))
    return [_path(name) for name in reached if name.rpartition(".")[2].startswith("test_")]


def imports() -> "grimp.ImportGraph":
    """Which module imports which, those among them that are loaded by name."""
    import grimp

    graph = grimp.build_graph(*_PACKAGES, cache_dir=None)
    for importer in sorted(graph.modules):
        for imported in _loaded_by_name(importer, graph.modules):
            if imported != importer:
                graph.add_import(importer=importer, imported=imported)
    return graph


def _loaded_by_name(importer: str, modules: Collection[str]) -> Iterator[str]:
    """Yield what a module loads without an import of its own: by texts that name modules."""
    source = ROOT.joinpath(*importer.split("."))
    files = (source / "__init__.pyi", source / "__init__.py", source.with_suffix(".py"))
    text = next((path.read_text("utf-8") for path in files if path.exists()), "")
    package = importer if source.is_dir() else importer.rpartition(".")[0]
    named = [f"{importer}_report", *([_MAGICS] if importer == _SHELL else ())]
    for parts in _NAMED.findall(text):
        below = "".join(parts).strip(".")
        named += [below, f"ipyjaxbench.{below}", f"{package}.{below}"]
    folders = _ALL_OF.findall(text)
    named += [each for each in modules if each.rpartition(".")[0] in folders]
    yield from (each for each in named if each in modules)


def _modules(path: str) -> tuple[str, ...]:
    """The modules for which a changed file stands."""
    if not path.endswith(".py"):
        return _OF_DOCUMENTS
    return (path.removesuffix(".py").removesuffix("/__init__").replace("/", "."),)


def _path(module: str) -> Path:
    return ROOT / (module.replace(".", "/") + ".py")
