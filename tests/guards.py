"""PyTorch makes programs of tests faster: it does not time their guards."""

import sys


def time_no_guards() -> None:
    """Have dynamo leave out what takes 40 ms for each program, and is told nowhere."""
    guards = sys.modules.get("torch._dynamo.guards")
    if hasattr(guards, "profile_guard_manager"):
        setattr(guards, "profile_guard_manager", lambda *_: 0.0)  # noqa: B010  a module has none
