"""Causes that no signature holds: PyTorch's state, globals in containers, attributes of modules."""

import json
import re
from collections.abc import Iterator
from typing import Any

from ipyjaxbench.adapters.torch.retracing import conditions, guards
from ipyjaxbench.adapters.torch.retracing.callee import Entered, own_entries
from ipyjaxbench.retracing import Change

_MOST_PARTS = 20_000  # conditions of one program; of larger ones nothing is known
_STATE = re.compile(r"^___check_global_state\(\) against (\{.*\})$")


def outside(entered: Entered) -> tuple[Change, ...]:
    """Return the causes beside a signature, by the own program that has the fewest of them."""
    found = (tuple(dict.fromkeys(_failed(entry, entered))) for entry in own_entries(entered))
    return min(found, key=len, default=())


def _failed(entry: Any, entered: Entered) -> Iterator[Change]:
    manager, names = entry.guard_manager, dict(entered.names)
    parts = getattr(manager, "code_parts", None) or ()
    for part in map(conditions.plain, parts if len(parts) <= _MOST_PARTS else ()):
        if state := _STATE.match(part):
            yield from _state_changes(json.loads(state[1]))
        elif conditions.holds(part, manager, names) is False:
            guard = guards.read(part, entered)
            if not guard.is_in_signature:
                yield guard.change


def _state_changes(old: dict[str, Any]) -> Iterator[Change]:
    """Yield what changed of the state that dynamo guards, but for what signatures hold."""
    from torch._C._dynamo.guards import GlobalStateGuard

    now: Any = GlobalStateGuard()
    new = json.loads(now.__getstate__())
    for name in old.keys() & new.keys():
        if old[name] != new[name] and name not in guards.IN_SIGNATURE:
            words = name.replace("_", " ")
            if isinstance(new[name], bool):
                yield Change("setting", words, str(old[name]), str(new[name]))
            else:
                yield Change("guard", new=f"{words} changed")
