"""Searches in Inductor's cache of compiled graphs on disk, and why one was in vain.

Inductor keeps what it hashes as lines of text, and hands them to the function that searches
(private: ``FxGraphCache.load_with_key``). That function is wrapped while somebody looks, so that
entries are known which were made then.
"""

import hashlib
import os
import re
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import torch

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import (
    DIGEST,
    PROGRAM,
    DiskMiss,
    Entry,
    Parts,
    explain_miss,
    keep_entry,
    read_entries,
)
from ipyjaxbench.host import Clock

_CALENDAR = Clock.calendar()
_LINE = re.compile(r"\[(?P<hash>\w+)\] (?P<name>\w+)(?:\[(?P<field>[^\]]*)\])?: ", re.ASCII)
_MAX_VALUE = 60  # letters
#: Names of what is hashed -> part of the key; all others are settings of PyTorch.
_PARTS = {
    "gm": PROGRAM, "example_inputs": PROGRAM, "fx_kwargs": "compile options",
    "torch_version": "PyTorch version", "system_info": "system",
    "inductor_config": "Inductor's settings",
}  # fmt: skip
_OTHERS = "PyTorch's settings"
_VARIABLE = "TORCHINDUCTOR_"  # of the environment
#: Fields that hang on where something is, or on what PyTorch itself chose.
_UNREADABLE = (" at 0x", "BoxedDeviceIndex")
_cold = threading.local()


class Search(NamedTuple):
    """A search in the folder; `compilation` is dynamo's number of what is compiled."""

    compilation: str
    folder: str
    key: str
    when: float
    parts: Parts
    was_there: bool
    is_hit: bool = False
    is_cold: bool = False  # of a cold call, whose program is kept elsewhere


class GraphSearches(AbstractContextManager["GraphSearches"]):
    """Listens while the context is open, once Inductor is loaded."""

    def __init__(self) -> None:
        self.searches: list[Search] = []
        self._undo: tuple[Any, Any, Any] | None = None

    def __enter__(self) -> "GraphSearches":
        self.open()
        return self

    def open(self) -> None:
        """Listen from now on, where the module is loaded: the first compilation does that."""
        cache: Any = getattr(sys.modules.get("torch._inductor.codecache"), "FxGraphCache", None)
        before = vars(cache).get("load_with_key") if cache is not None else None
        if self._undo is not None or not isinstance(before, staticmethod):
            return
        original = before.__func__

        def load_with_key(key: str, debug_lines: list[str], *args: Any, **kwargs: Any) -> Any:
            search = None
            with suppress(*CODE_ERRORS):  # what is raised here would stop the user's call
                folder = getattr(_cold, "folder", "")
                search = _search(folder or str(cache._get_tmp_dir()), key, debug_lines)
                search = search._replace(is_cold=bool(folder))
            found = original(key, debug_lines, *args, **kwargs)
            if search is not None:
                is_hit = search.was_there if search.is_cold else found[0] is not None
                self.searches.append(search._replace(is_hit=is_hit))
            return found

        cache.load_with_key = wrapper = staticmethod(load_with_key)
        self._undo = cache, before, wrapper

    def __exit__(self, *_: object) -> None:
        if self._undo is not None:
            cache, before, wrapper = self._undo
            if vars(cache).get("load_with_key") is wrapper:  # or somebody wrapped it meanwhile
                cache.load_with_key = before
            self._undo = None

    def misses(self, compilation: object, name: str) -> tuple[DiskMiss, ...]:
        """Return why programs of a compilation were not found; keep what entries are made of.

        A function without a known entry gets no reason: its entries may have been written before
        this package listened.
        """
        own = [each for each in self.searches if each.compilation == str(compilation)]
        self.searches[:] = [each for each in self.searches if each not in own]
        misses = []
        for search in own:
            with suppress(*CODE_ERRORS):  # another version has other lines
                misses.append(_explain(search, name))
        return tuple(miss for miss in misses if miss is not None and miss.is_news)


@contextmanager
def cold_searches() -> Iterator[None]:
    """Take what this thread looks for meanwhile as if it looked in the folder of now.

    It then says what a new session would find. Entries of such searches are not kept.
    """
    cache: Any = getattr(sys.modules.get("torch._inductor.codecache"), "FxGraphCache", None)
    with suppress(*CODE_ERRORS):
        _cold.folder = str(cache._get_tmp_dir()) if cache is not None else ""
    try:
        yield
    finally:
        _cold.folder = ""


def _search(folder: str, key: str, lines: Sequence[str]) -> Search:
    from torch._guards import CompileContext

    number, when = str(CompileContext.current_compile_id()), _CALENDAR.now() * 1e-9
    return Search(number, folder, key, when, read_lines(lines), _path(folder, key).exists())


def _explain(search: Search, name: str) -> DiskMiss | None:
    known = read_entries("torch", search.folder, name)
    sought = Entry(search.key, search.when, search.parts)
    if search.is_hit:
        if not search.is_cold and search.key not in {each.key for each in known}:
            keep_entry("torch", search.folder, name, sought)
        return None
    miss = explain_miss(
        name, sought, known, lambda key: _path(search.folder, key).exists(),
        was_there=search.was_there,
    )  # fmt: skip
    if not search.is_cold and _path(search.folder, search.key).exists():
        keep_entry("torch", search.folder, name, sought)
    return miss


def _path(folder: str, key: str) -> Path:
    """Return where Inductor keeps the entries of a key."""
    return Path(folder) / key[1:3] / key


def read_lines(lines: Sequence[str]) -> Parts:
    """Return the parts of a key, each with its fields, of the lines in which Inductor has them."""
    parts: dict[str, dict[str, str]] = {}
    digests: dict[str, Any] = {}
    for line in lines:
        match = _LINE.match(line)
        if match is None:
            continue
        part, text = _PARTS.get(match["name"], _OTHERS), line[match.end() :]
        digests.setdefault(part, hashlib.sha256()).update(line[: match.end()].encode())
        fields = parts.setdefault(part, {})
        if part == PROGRAM:
            kind = "code" if match["name"] == "gm" else "types"
            fields[kind] = fields.get(kind, "") + match["hash"][:16]
        elif part not in ("PyTorch version", "Inductor's settings") and not any(
            each in text for each in _UNREADABLE
        ):
            fields[match["field"] or match["name"]] = text[:_MAX_VALUE]
    for part, fields in parts.items():
        fields[DIGEST] = digests[part].hexdigest()[:16]
    parts.get("PyTorch version", {})[""] = str(torch.__version__)
    parts.get("Inductor's settings", {}).update(_changed_settings() | _environment())
    return parts


def _changed_settings() -> dict[str, str]:
    """Return the settings of Inductor that are not as PyTorch has them (private: their table)."""
    from torch._inductor import config

    table: Any = getattr(config, "_config", {})
    table = {n: entry for n, entry in table.items() if not getattr(entry, "deprecated", False)}
    values = {name: getattr(config, name) for name in table if _counts(name)}
    return {
        name: str(value)[:_MAX_VALUE]
        for name, value in values.items()
        if value != getattr(table[name], "default", value)
    }


def _environment() -> dict[str, str]:
    """Return the environment's own settings: PyTorch reads them as if they were its usual ones."""
    return {
        name: value[:_MAX_VALUE]
        for name, value in os.environ.items()
        if name.startswith(_VARIABLE)
        and name != f"{_VARIABLE}CACHE_DIR"
        and _counts(name.removeprefix(_VARIABLE).lower())
    }


def _counts(name: str) -> bool:
    """Whether a setting is hashed, as is all that does not begin with some words."""
    from torch._inductor import config

    prefixes = getattr(config, "_cache_config_ignore_prefix", [])
    return not name.startswith(tuple(prefixes))
