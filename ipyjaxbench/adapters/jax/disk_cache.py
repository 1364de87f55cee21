"""Searches in JAX's persistent compilation cache, as they happen, and why one was in vain.

JAX reports a search and its end by events of `jax.monitoring`, without what it searched for, which
`cache_request` reads. Without a cache folder nothing is looked at.
"""

import os
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.monitoring
from jax._src import compilation_cache, config

from ipyjaxbench import units
from ipyjaxbench.adapters.jax.cache_request import REQUEST, names_of_request
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import (
    DiskMiss,
    Entry,
    Parts,
    explain_miss,
    keep_entry,
    read_entries,
)
from ipyjaxbench.host import Clock, summarize_error

_HIT = "/jax/compilation_cache/cache_hits"
_WRITE = "/jax/compilation_cache/cache_misses"  # what is reported is that an entry is written
_END = "/jax/core/compile/backend_compile_duration"
_SUFFIX = "-cache"  # of JAX's files
_CALENDAR = Clock.calendar()


class _Folder(NamedTuple):
    """The cache's folder; it may be on no disk of this machine."""

    path: str

    @property
    def is_remote(self) -> bool:
        return "://" in self.path

    def file(self, key: str) -> Path:
        """Return where JAX keeps an entry."""
        return Path(self.path) / f"{key}{_SUFFIX}"

    def has(self, key: str) -> bool:
        """Whether there is an entry; of a remote folder that is taken for granted."""
        return self.is_remote or self.file(key).exists()

    def has_others(self, module: str, key: str) -> bool:
        """Whether there are entries of a program under other keys."""
        if self.is_remote:
            return False
        files = Path(self.path).glob(f"{module}-{'[0-9a-f]' * 64}{_SUFFIX}")
        return any(path.name != f"{key}{_SUFFIX}" for path in files)

    def failure(self) -> str:
        """Return why it cannot be used, in a line; "" if it can."""
        if self.is_remote:
            return ""
        try:
            os.scandir(self.path).close()
        except OSError as error:
            return f"{self.path}: {error.strerror or type(error).__name__}"
        return "" if os.access(self.path, os.W_OK) else f"{self.path}: not writable"


class _Search(NamedTuple):
    """A search that goes on: JAX's own names, and whether the folder had the entry."""

    folder: _Folder
    names: dict[str, Any]
    was_there: bool

    @property
    def key(self) -> str:
        return str(self.names["cache_key"])

    @property
    def module(self) -> str:
        return str(self.names["module_name"])


@dataclass(frozen=True)
class FailedSearch:
    """A search in vain: what was looked for, and why it was not kept after."""

    folder: _Folder
    module: str
    key: str
    when: float
    parts: Parts | None
    was_there: bool
    not_kept: str

    @cached_property
    def miss(self) -> DiskMiss:
        """Why it was in vain, found out when it is asked for: files are read for it."""
        try:
            return self._explain()
        except Exception as error:  # noqa: BLE001  the call itself went well
            name = name_of_module(self.module)
            return DiskMiss(name, self.when, "?", details=summarize_error(error))

    def _explain(self) -> DiskMiss:
        name = name_of_module(self.module)
        failure = self.folder.failure()
        if failure:
            return DiskMiss(name, self.when, "folder", details=failure)
        if self.parts is None:
            details = "this version of JAX makes its keys of other parts"
            return DiskMiss(name, self.when, "?", details=details, not_kept=self.not_kept)
        miss = explain_miss(
            name,
            Entry(self.key, self.when, self.parts),
            read_entries("jax", self.folder.path, self.module),
            self.folder.has,
            was_there=self.was_there,
        )
        if miss.cause == "first" and self.folder.has_others(self.module, self.key):
            miss = replace(miss, cause="unobserved")
        return replace(miss, not_kept=self.not_kept)


class Searches:
    """Listens for as long as the process lives: compiling is rare, and cached calls are free."""

    def __init__(self) -> None:
        self._is_listening = False
        self._here = threading.local()  # the search of a thread, and what came of the last one
        self._last: dict[str, FailedSearch | None] = {}

    def listen(self) -> None:
        """Listen from now on."""
        if not self._is_listening:
            self._is_listening = True
            jax.monitoring.register_event_listener(self._on_event)
            jax.monitoring.register_event_duration_secs_listener(self._on_duration)

    def failed(self) -> FailedSearch | None:
        """Return the search for what this thread compiled last, if it was in vain.

        Where the cache is turned off, as for a cold call, it is the last one for that function.
        """
        return getattr(self._here, "failed", None)

    def _on_event(self, event: str, **_: Any) -> None:
        if event == REQUEST:
            self._here.search, self._here.is_written = None, False
            folder: Any = jax.config.jax_compilation_cache_dir
            if folder:
                with suppress(*CODE_ERRORS):  # what is raised here would stop the user's call
                    self._here.search = _search(_Folder(str(folder)), sys._getframe(1))
        elif event == _WRITE:
            self._here.is_written = True
        elif event == _HIT and getattr(self._here, "search", None) is not None:
            search, self._here.search = self._here.search, None
            self._last[name_of_module(search.module)] = None
            with suppress(*CODE_ERRORS):
                _learn(search)

    def _on_duration(self, event: str, seconds: float, **details: Any) -> None:
        if event != _END:
            return
        search, self._here.search = getattr(self._here, "search", None), None
        self._here.failed = None
        if search is not None:
            with suppress(*CODE_ERRORS):
                failed = _failed(search, seconds, is_written=self._here.is_written)
                self._here.failed = self._last[name_of_module(search.module)] = failed
        elif not config.enable_compilation_cache.value:
            name = str(details.get("fun_name") or "").removeprefix("jit(").removesuffix(")")
            self._here.failed = self._last.get(name)


#: Of this process.
SEARCHES = Searches()


def name_of_module(module: str) -> str:
    """Return the function's name in a module's."""
    return module.removeprefix("jit_")


def _search(folder: _Folder, frame: Any) -> _Search | None:
    names = names_of_request(frame)
    return None if names is None else _Search(folder, names, folder.has(str(names["cache_key"])))


def _learn(search: _Search) -> None:
    """Store the key's parts of an entry that was written before this package listened."""
    folder, key = search.folder, search.key
    if key in {each.key for each in read_entries("jax", folder.path, search.module)}:
        return
    parts = _read_key(search)
    if parts is not None:
        made = _CALENDAR.now() * 1e-9 if folder.is_remote else folder.file(key).stat().st_mtime
        keep_entry("jax", folder.path, search.module, Entry(key, made, parts))


def _read_key(search: _Search) -> Parts | None:
    """Return what a key is made of; the module is loaded where a cache is in use."""
    from ipyjaxbench.adapters.jax.disk_cache_key import read_key

    return read_key(search.names)


def _failed(search: _Search, seconds: float, *, is_written: bool) -> FailedSearch:
    """Return what was looked for; keep what the entry is made of that was written instead."""
    folder, key, module = search.folder, search.key, search.module
    when, parts = _CALENDAR.now() * 1e-9, _read_key(search)
    if is_written and parts is not None:
        keep_entry("jax", folder.path, module, Entry(key, when, parts))
    not_kept = "" if is_written else _why_not_kept(search.names, seconds)
    return FailedSearch(folder, module, key, when, parts, search.was_there, not_kept)


def _why_not_kept(names: dict[str, Any], seconds: float) -> str:
    """Return why JAX did not write an entry, in the order in which it looks at these."""
    if names.get("host_callbacks"):
        return "it calls back into Python (as jax.debug.print does)"
    least: float = jax.config.jax_persistent_cache_min_compile_time_secs
    if seconds < least:
        return f"below {least:g} s (jax_persistent_cache_min_compile_time_secs)"
    size: int = jax.config.jax_persistent_cache_min_entry_size_bytes
    if size > 0:
        return f"smaller than {units.size(size)} (jax_persistent_cache_min_entry_size_bytes)"
    if getattr(compilation_cache, "_cache", None) is None:
        return "JAX could not open the cache folder"
    return "JAX did not write it (another process of the job may)"
