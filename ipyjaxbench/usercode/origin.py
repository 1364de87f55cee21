"""Where code comes from: the user's files, libraries, or this package."""

import contextlib
import functools
import os
import re
import site
import sys
import sysconfig
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any, TypeGuard

from ipyjaxbench.usercode import classes

#: Begins the path of every file of this package.
PACKAGE = f"{Path(__file__).parents[1]}{os.sep}"
_INSTALLED = re.compile(r"[/\\](site|dist)-packages[/\\]")  # of any environment that is used
#: Code that is in no file: Python's own, and what JAX, attrs, makefun, decorator, PyTorch and
#: AutoGraph make.
GENERATED = ("<frozen", "<__array", "<attrs", "<makefun", "<decorator-gen", "<eval_with", "<__auto")
#: They may be installed in a folder of their own, as with ``pip install -e``.
_FRAMEWORKS = ("numpy", "jax", "torch", "tensorflow", "keras")
_MODULE: Any = vars(type(sys))["__dict__"]


@functools.lru_cache(maxsize=4096)
def is_users_file(file: str) -> bool:
    """Whether a file is the user's own: no part of Python, of a library, or of this package."""
    is_theirs = file.startswith((PACKAGE, *GENERATED, *_installation()))
    is_frameworks = any(is_file_of(file, name) for name in _FRAMEWORKS)
    is_installed = is_theirs or is_frameworks or _INSTALLED.search(file)
    return not (is_installed or any(_is_beside_metadata(file, each) for each in [*sys.path]))


def _is_beside_metadata(file: str, folder: object) -> bool:
    """Whether a distribution's metadata in a folder names a file, as after `pip --target`."""
    if type(folder) is not str or not folder or not file.startswith(start := _within(folder)):
        return False
    return re.split(r"[/\\]", file[len(start) :], maxsplit=1)[0] in _installed_in(folder)


def _within(folder: str) -> str:
    return folder.rstrip("/\\") + os.sep


@functools.lru_cache(maxsize=256)
def _installed_in(folder: str) -> frozenset[str]:
    """Return the files and folders of distributions whose metadata lie in a folder.

    Those of an editable installation lie elsewhere, or list no files: its code is the user's.
    """
    found: set[str] = set()
    for record in Path(folder).glob("*.dist-info/RECORD"):
        with contextlib.suppress(OSError, ValueError):
            found.update(re.split("[/,]", line)[0] for line in record.read_text().splitlines())
    return frozenset(found)


def is_file_of(file: str, package: str) -> bool:
    """Whether a file is one of a package that is loaded, wherever that is installed."""
    module = sys.modules.get(package)
    start = None if module is None else names_of_module(module).get("__file__")
    return type(start) is str and file.startswith(os.path.dirname(start) + os.sep)


def is_users_function(value: Any) -> TypeGuard[FunctionType]:
    """Whether the user wrote a plain function; libraries keep state of their own in theirs."""
    return type(value) is FunctionType and is_users_file(value.__code__.co_filename)


def is_of_library(value: Any) -> bool:
    """Whether it is a plain function that the user did not write."""
    return type(value) is FunctionType and not is_users_function(value)


def is_users_class(kind: type) -> bool:
    """Whether the user wrote a class, or it is one for attributes of any name."""
    name = classes.module_of(kind)
    module = sys.modules.get(name)
    is_known = kind is SimpleNamespace or name == "__main__"
    return is_known or (module is not None and is_users_module(module))


def is_users_module(module: object) -> bool:
    """Whether a module was written by the user."""
    file = names_of_module(module).get("__file__")
    return type(file) is str and is_users_file(file)


def names_of_module(module: object) -> dict[str, Any]:
    """Return the dictionary itself that holds a module's names."""
    found: dict[str, Any] = _MODULE.__get__(module)
    return found


@functools.cache
def _installation() -> tuple[str, ...]:
    """Folders of Python and of what is installed with it, by each of their names."""
    paths = sysconfig.get_paths()
    folders = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    folders += [*site.getsitepackages(), site.getusersitepackages()]
    both = {path for each in folders for path in (each, os.path.realpath(each))}
    return tuple(path.rstrip(os.sep) + os.sep for path in sorted(both))
