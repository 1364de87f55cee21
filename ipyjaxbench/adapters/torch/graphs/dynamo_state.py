"""What dynamo keeps of all compilations of a process, put back after a look at one of them."""

import copy
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: By module: containers whose contents are put back, and values that are.
_CONTAINERS = {
    "utils": ("counters", "compilation_time_metrics", "cumulative_time_spent_ns", "guard_failures",
              "graph_break_reasons", "_compilation_metrics", "warn_once_cache"),
    "convert_frame": ("FRAME_COMPILE_COUNTER",),
    "eval_frame": ("cached_backends",),
}  # fmt: skip
_VALUES = {"convert_frame": ("FRAME_COUNTER",), "pgo": ("_CODE_STATE", "_INIT_CODE_STATE")}


@contextmanager
def keep_records() -> Iterator[None]:
    """Dynamo's records are afterwards as they were, and callbacks of others are not called.

    What dynamo learnt of sizes that change (`pgo`) goes by file and line, not by code object: a
    look would have the next compilation take a changed size for a dynamic one.
    """
    containers = [(each, _contents(each)) for each in map(_held, _named(_CONTAINERS))]
    values = [(where, name, _held((where, name))) for where, name in _named(_VALUES)]
    for where, name, value in values:
        setattr(_module(where), name, copy.deepcopy(value))
    callbacks = [(each, list(each)) for each in _callbacks()]
    for each, _ in callbacks:
        each.clear()
    try:
        yield
    finally:
        for each, before in callbacks:
            each.extend(before)
        for where, name, value in values:
            setattr(_module(where), name, value)
        for each, before in containers:
            each.clear()
            (each.extend if isinstance(before, list) else each.update)(before)


def _named(table: dict[str, tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    """Those that this version of PyTorch has."""
    for where, names in table.items():
        for name in names:
            if name in vars(_module(where)):
                yield where, name


def _module(name: str) -> Any:
    return importlib.import_module(f"torch._dynamo.{name}")


def _held(place: tuple[str, str]) -> Any:
    return vars(_module(place[0]))[place[1]]


def _contents(container: Any) -> Any:
    """A copy, of the containers in it too."""
    if isinstance(container, dict):
        return {key: copy.copy(value) for key, value in container.items()}
    return set(container) if isinstance(container, set) else list(container)


def _callbacks() -> list[list[Any]]:
    handler = getattr(_module("callback"), "callback_handler", None)
    names = ("start_callbacks", "end_callbacks")
    return [getattr(handler, name) for name in names if getattr(handler, name, None)]
