"""Gives the user's code more time in tests: how busy the machine is decides no result."""

import sys

_TIMES = 10
_LIMITS = {
    "adapters.jax.diagnosis.eager_check": "MAX_SECONDS",
    "adapters.jax.diagnosis.fixes": "_MAX_SECONDS",
    "adapters.jax.graphs.tracing": "_MOST_SECONDS",
    "adapters.shared.diagnosis.eager": "MAX_SECONDS",
}


def extend_time_limits() -> None:
    """Multiply the limits of modules that are imported."""
    for name, limit in _LIMITS.items():
        if module := sys.modules.get(f"ipyjaxbench.{name}"):
            setattr(module, limit, getattr(module, limit) * _TIMES)
