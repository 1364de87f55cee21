"""Tells when a framework has been imported: the same cell may go on and trace with it."""

from __future__ import annotations

import sys
from importlib.abc import Loader, MetaPathFinder
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

#: Modules from whose import on there is something to learn; PyTorch imports its compiler late.
LEARNED_FROM = ("jax", "torch", "torch._dynamo", "tensorflow", "keras")


class ImportHook(MetaPathFinder):
    """Calls a function with the name of each of some modules when it has been imported.

    Which finder finds them, and their own loaders, stay what they are.

    Args:
        names: of the modules.
        on_import: is called; it must not raise.
    """

    def __init__(self, names: Collection[str], on_import: Callable[[str], object]) -> None:
        self._names, self._on_import = names, on_import

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return what the other finders find, with a loader that tells; None of other modules."""
        if fullname not in self._names:
            return None
        others = [each for each in sys.meta_path if each is not self and hasattr(each, "find_spec")]
        specs = (each.find_spec(fullname, path, target) for each in others)
        spec = next(filter(None, specs), None)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _TellingLoader(spec.loader, self._on_import)
        return spec


class _TellingLoader(Loader):
    """A loader that a module loses when it is executed: it has its own one by then."""

    def __init__(self, loader: Any, on_import: Callable[[str], object]) -> None:
        self._loader, self._on_import = loader, on_import

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._on_import(module.__name__)


def is_for_another(name: str) -> bool:
    """Whether one of `LEARNED_FROM` is imported for another one of these, which comes later."""
    return any(is_being_imported(each) for each in LEARNED_FROM if each != name)


def is_being_imported(name: str) -> bool:
    """Whether a module has not been executed to its end."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    return bool(getattr(spec, "_initializing", False))
