"""JAX's coordination service: the store of `jax.distributed`."""

import importlib
from typing import Any

import jax

from ipyjaxbench.frameworks import Coordination, Job

_METHODS = ("blocking_key_value_get_bytes", "key_value_set_bytes")
_QUICK = ("key_value_increment", "key_value_try_get_bytes")  # not in JAX 0.4
_PLAIN = ("key_value_dir_get_bytes",)
_LATE, _ABSENT, _EXISTS = "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS"


class JaxCoordination(Coordination):
    """What `jax.distributed.initialize` has started; asking starts nothing."""

    def job(self) -> Job | None:
        """Return this process's place among `jax.process_count()`."""
        state = _find_state()
        if state is None or _count(state) == 1 or _missing(state.client):
            return None
        rank, size = state.process_id, _count(state)
        if _lacks(state.client, *_QUICK):
            return _PlainJob(state.client, rank, size)
        return _QuickJob(state.client, rank, size)

    def reason(self) -> str | None:
        """Return what this version of JAX lacks of what the store needs."""
        state = _find_state()
        if state is None:
            is_up = getattr(jax.distributed, "is_initialized", lambda: False)()
            return "this version of JAX does not show its coordination service" if is_up else None
        if _count(state) == 1:
            return None
        missing = _missing(state.client)
        return f"this version of JAX has no {', '.join(missing)}" if missing else None


def _find_state() -> Any:
    """Return what is known of the service; None where this process has not joined any."""
    # Private: nothing public offers the store, and public barriers run on the devices.
    try:
        distributed = importlib.import_module("jax._src.distributed")
    except ImportError:
        return None
    state = getattr(distributed, "global_state", None)
    return None if getattr(state, "client", None) is None else state


def _count(state: Any) -> int:
    """Return how many processes the service has."""
    return getattr(state, "num_processes", None) or 1


def _missing(client: Any) -> list[str]:
    """Return the methods that are needed and not there; empty where all or others will do."""
    missing, quick = _lacks(client, *_METHODS), _lacks(client, *_QUICK)
    return missing + (quick if quick and _lacks(client, *_PLAIN) else [])


def _lacks(client: Any, *names: str) -> list[str]:
    return [name for name in names if not callable(getattr(client, name, None))]


class _QuickJob(Job):
    """Over a client that counts by itself."""

    def __init__(self, client: Any, rank: int, size: int) -> None:
        self._client, self.rank, self.size = client, rank, size

    def put(self, key: str, value: bytes) -> None:
        self._client.key_value_set_bytes(key, value)

    def get(self, key: str, milliseconds: int) -> bytes | None:
        return _get(self._client, key, milliseconds)

    def peek(self, key: str) -> bytes | None:
        try:
            found: bytes = self._client.key_value_try_get_bytes(key)
        except RuntimeError as error:
            if _ABSENT not in str(error):
                raise
            return None
        return found

    def add(self, key: str, more: int = 1) -> int:
        return int(self._client.key_value_increment(key, more))


class _PlainJob(Job):
    """Over a client of before: a key is a folder with one entry, a count one with so many."""

    def __init__(self, client: Any, rank: int, size: int) -> None:
        self._client, self.rank, self.size = client, rank, size

    def put(self, key: str, value: bytes) -> None:
        self._client.key_value_set_bytes(f"{key}/value", value)

    def get(self, key: str, milliseconds: int) -> bytes | None:
        return _get(self._client, f"{key}/value", milliseconds)

    def peek(self, key: str) -> bytes | None:
        entries = dict(self._client.key_value_dir_get_bytes(f"{key}/"))
        return entries.get(f"{key}/value")

    def add(self, key: str, more: int = 1) -> int:
        number = self._count(key)
        for _ in range(more):
            number = self._claim(key, number)
        return number

    def _count(self, key: str) -> int:
        return len(self._client.key_value_dir_get_bytes(f"{key}/count/"))

    def _claim(self, key: str, number: int) -> int:
        """Write the next entry that no other process writes; return its number."""
        while True:
            number += 1
            try:
                self._client.key_value_set_bytes(f"{key}/count/{number}", b"1")
            except RuntimeError as error:
                if _EXISTS not in str(error):
                    raise
            else:
                return number


def _get(client: Any, key: str, milliseconds: int) -> bytes | None:
    try:
        found: bytes = client.blocking_key_value_get_bytes(key, milliseconds)
    except RuntimeError as error:
        if _LATE not in str(error):
            raise
        return None
    return found
