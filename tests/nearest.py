"""The tests that are nearest to what was changed, by imports."""

import subprocess
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parent.parent
_OF_DOCUMENTS = ("tests.test_readme", "tests.test_reference", "tests.test_rooms")
_PACKAGES = ("ipyjaxbench", "tests")


def changed_files(root: Path = ROOT) -> list[str]:
    """Paths below the root that differ from the last commit on main, and those that are new."""
    told = ("diff", "--name-only", "main"), ("ls-files", "--others", "--exclude-standard")
    found = [
        subprocess.run(["git", *each], cwd=root, capture_output=True, text=True, check=True).stdout
        for each in told
    ]
    return sorted({line for text in found for line in text.splitlines()})


def find_tests(changed: Iterable[str]) -> list[Path]:
    """Files of tests that changed files can reach, the nearest first.

    A module is as near as imports that lead to it are few; what is no module is near to the tests
    of documents.
    """
    import grimp

    graph = grimp.build_graph(*_PACKAGES, cache_dir=None)
    reached: dict[str, None] = {}
    nearest = [name for path in changed for name in _modules(path) if name in graph.modules]
    while nearest:
        reached |= dict.fromkeys(nearest)
        importers = (graph.find_modules_that_directly_import(module) for module in nearest)
        nearest = sorted({each for found in importers for each in found}.difference(reached))
    return [_path(name) for name in reached if name.rpartition(".")[2].startswith("test_")]


def _modules(path: str) -> tuple[str, ...]:
    """The modules for which a changed file stands."""
    if not path.endswith(".py"):
        return _OF_DOCUMENTS
    return (path.removesuffix(".py").removesuffix("/__init__").replace("/", "."),)


def _path(module: str) -> Path:
    return ROOT / (module.replace(".", "/") + ".py")
