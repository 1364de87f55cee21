"""Settings of dynamo's by which it compiles nothing, or nothing more."""

import sys
from typing import Any

from ipyjaxbench.adapters.torch.retracing import callee

#: Stances in which nothing is compiled (`torch.compiler.set_stance`).
_STANCES = ("force_eager", "eager_on_recompile")
#: Names of the setting, the newest first.
_LIMITS = ("recompile_limit", "cache_size_limit")


def switched_off(function: Any) -> str:
    """Return why nothing is compiled, in words; empty where it is."""
    stance = str(getattr(getattr(_dynamo("eval_frame"), "_stance", None), "stance", ""))
    if callee.is_disabled(function):
        return "torch.compiler.disable"
    if getattr(_dynamo("config"), "disable", False):
        return "torch._dynamo.config.disable"
    return f"torch.compiler.set_stance({stance!r})" if stance in _STANCES else ""


def limit() -> int:
    """Return how many programs dynamo makes of one function; 0 where that is not known."""
    config = _dynamo("config")
    return next((int(getattr(config, n)) for n in _LIMITS if hasattr(config, n)), 0)


def _dynamo(name: str) -> Any:
    """Return a module of dynamo; None until the first torch.compile."""
    return sys.modules.get(f"torch._dynamo.{name}")
