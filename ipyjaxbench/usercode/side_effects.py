"""What acts outside of the process, waits for somebody, or is used up: it is not run to look."""

import io
import logging
from collections.abc import Collection, Iterable
from threading import local
from types import BuiltinFunctionType, CodeType, ModuleType
from typing import Any
from weakref import ProxyTypes

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode.classes import class_dict, module_of, mro_of
from ipyjaxbench.usercode.code_objects import names_in
from ipyjaxbench.usercode.objects import is_exactly, is_of, name_of
from ipyjaxbench.usercode.origin import is_users_class

SIDE_EFFECT_NAMES = frozenset({
    "open", "input", "system", "Popen", "check_output", "check_call", "urlopen", "socket", "remove",
    "unlink", "write", "write_text", "write_bytes", "save", "savez", "savefig", "dump", "to_csv",
    "send", "post", "log", "sleep", "breakpoint", "set_trace", "exit", "_exit", "kill",
})  # fmt: skip
#: Of these, those that are functions of arrays too.
ARRAY_FUNCTION_NAMES = frozenset({"log"})


_NAMES = SIDE_EFFECT_NAMES - ARRAY_FUNCTION_NAMES


def has_side_effects(codes: Iterable[CodeType], names: Collection[str] = _NAMES) -> bool:
    """Whether code, or a function in it, names something that acts."""
    return any(name in names for code in codes for name in names_in(code))


#: Of these names, those that no list, array or model has for a method.
_OUTRIGHT = _NAMES - {"write", "remove", "save", "dump", "send", "socket", "exit", "_exit", "kill"}
#: Modules that act, and whose objects do.
_MODULES = frozenset((
    "queue", "_queue", "multiprocessing", "asyncio", "_asyncio", "concurrent", "socket", "_socket",
    "ssl", "_ssl", "select", "sqlite3", "subprocess", "shutil", "logging", "http", "urllib",
    "requests",
))  # fmt: skip
_METHOD_WRAPPER = type("".__len__)  # of a method that Python itself calls, as `__next__`
#: What they are given is dropped while code runs to be looked at; see `unlogged`.
_LOGGERS = (logging.Logger, logging.RootLogger, logging.LoggerAdapter)
#: Of these it is known how far they are read, and they go back there.
_IN_MEMORY = (io.StringIO, io.BytesIO)
_READERS = (io.TextIOWrapper, io.BufferedReader, io.FileIO)


def outright_names(names: Iterable[str]) -> frozenset[str]:
    """Return those of some names in code by which it acts, whatever they are of."""
    return _OUTRIGHT.intersection(names)


def is_used_up(value: Any) -> bool:
    """Whether to use an object takes something from it for good, or acts: iterators, queues, files.

    What stands in memory alone, and files that are only read, can be put back.

    Example:
        >>> is_used_up(iter([1])), is_used_up([1])
        (True, False)
    """
    if is_of(value, ModuleType):
        return value is not logging and name_of(value).partition(".")[0] in _MODULES
    if is_exactly(value, *_LOGGERS):
        return False
    if is_exactly(value, BuiltinFunctionType, _METHOD_WRAPPER):
        owner = value.__self__
        return not is_of(owner, ModuleType) and is_used_up(owner)
    if is_of(value, io.IOBase):
        return not is_of(value, *_IN_MEMORY) and not _goes_back(value)
    kinds = mro_of(_kind_of(value))
    maker = next((each for each in kinds if "__next__" in class_dict(each)), None)
    if (maker is not None and not is_users_class(maker)) or is_of(value, local):
        return True
    return any(module_of(each).partition(".")[0] in _MODULES for each in kinds)


def _kind_of(value: Any) -> type:
    """Return an object's type; a weak proxy has all methods, and that of what it stands for."""
    try:
        kind = value.__class__ if is_exactly(value, *ProxyTypes) else type(value)
    except CODE_ERRORS:  # what it stands for is gone, or raises
        return type(None)
    return kind if is_of(kind, type) else type(None)


def _goes_back(file: Any) -> bool:
    """Whether a file tells where it is: one that lines were iterated over does not."""
    try:
        return is_exactly(file, *_READERS) and not file.writable() and file.tell() >= 0
    except CODE_ERRORS:  # it is closed, or no place in it is known
        return False
