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
    """Put dynamo's records back afterwards, and call no callbacks of others meanwhile.

    What dynamo learnt of sizes that change (`pgo`) goes by file and line, not by code object: a
    look would have the next compilation take a changed size for a dynamic one.
    """
    containers = [(value, _contents(value)) for *_, value in _records(_CONTAINERS)]
    values = [*_records(_VALUES)]
    for module, name, value in values:
        setattr(module, name, copy.deepcopy(value))
    callbacks = [(each, list(each)) for each in _callbacks()]
    for each, _ in callbacks:
        each.clear()
    try:
        yield
    finally:
        for each, before in callbacks:
            each[:] = before  # some of ours may have come meanwhile
        for module, name, value in values:
            setattr(module, name, value)
        for each, before in containers:
            each.clear()
            (each.extend if isinstance(before, list) else each.update)(before)


def _records(table: dict[str, tuple[str, ...]]) -> Iterator[tuple[Any, str, Any]]:
    """Yield module, name and value of those that this version of PyTorch has."""
    for where, names in table.items():
        module = importlib.import_module(f"torch._dynamo.{where}")
        yield from ((module, name, vars(module)[name]) for name in names if name in vars(module))


def _contents(container: Any) -> Any:
    """Return a copy, of the containers in it too."""
    if isinstance(container, dict):
        return {key: copy.copy(value) for key, value in container.items()}
    return set(container) if isinstance(container, set) else list(container)


def _callbacks() -> list[list[Any]]:
    handler = getattr(importlib.import_module("torch._dynamo.callback"), "callback_handler", None)
    names = ("start_callbacks", "end_callbacks")
    found = (getattr(handler, name, None) for name in names)
    return [each for each in found if isinstance(each, list)]
