"""Inductor's own counters, which a whole process shares and anybody may empty (private)."""

import sys
from typing import Any

#: For how many operations it ran candidates, as with mode="max-autotune".
AUTOTUNED = "select_algorithm_autotune"
#: Searches in its cache of graphs: in vain, and not made since no entry could hold the graph.
MISS, BYPASS = "fxgraph_cache_miss", "fxgraph_cache_bypass"
#: Entries that could not be written.
FAILED_WRITES = ("fxgraph_cache_pickle_error", "fxgraph_cache_write_error")


class Counters:
    """What was counted since this was made."""

    def __init__(self) -> None:
        self._before = _read()

    def since(self, name: str) -> int:
        """Return by how much a counter has risen; where it was emptied meanwhile, what it has."""
        now, before = _read().get(name, 0), self._before.get(name, 0)
        return now - before if now >= before else now


def _read() -> dict[str, int]:
    """Return the counters; none before dynamo is loaded, or where this version has others."""
    utils: Any = sys.modules.get("torch._dynamo.utils")
    counters = getattr(utils, "counters", None)
    return dict(counters.get("inductor") or {}) if isinstance(counters, dict) else {}


def how_to_turn_on() -> str | None:
    """Return what turns Inductor's cache of graphs on; "" where it is on, None if unknown."""
    config: Any = sys.modules.get("torch._inductor.config")
    is_on = getattr(config, "fx_graph_cache", None)
    if is_on is None:
        return None
    if getattr(config, "force_disable_caches", False):
        return "torch._inductor.config.force_disable_caches = False"
    return "" if is_on else "torch._inductor.config.fx_graph_cache = True"
