"""Compiles modules of the package otherwise than they are written, when they are imported."""

import ast
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CodeType, ModuleType

ROOT = Path(__file__).parents[2]
_PACKAGE = "ipyjaxbench"
#: A path below the root, and the text of that file -> what is compiled in its place.
Edit = Callable[[str, str], "ast.Module | str"]


def edit_sources(edit: Edit) -> None:
    """From now on, import what an edit makes of each module of the package."""
    if loaded := [name for name in sys.modules if name.partition(".")[0] == _PACKAGE]:
        raise RuntimeError(f"{loaded[0]} is imported already")
    sys.meta_path.insert(0, _Finder(edit))


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, edit: Edit) -> None:
        self._edit = edit

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] != _PACKAGE:
            return None
        found = importlib.machinery.PathFinder.find_spec(name, path, target)
        if found is not None and isinstance(found.loader, importlib.machinery.SourceFileLoader):
            found.loader = _Loader(name, found.loader.path, self._edit)
        return found


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, edit: Edit) -> None:
        super().__init__(name, path)
        self._edit = edit

    def get_code(self, fullname: str) -> CodeType:
        """No bytecode is kept: it would outlive the edit."""
        text = Path(self.path).read_text("utf-8")
        edited = self._edit(str(Path(self.path).relative_to(ROOT)), text)
        return compile(edited, self.path, "exec", dont_inherit=True)
