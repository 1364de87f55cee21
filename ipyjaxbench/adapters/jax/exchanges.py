"""What each collective that ran exchanges, by the compiled programs that this process has."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import jax

from ipyjaxbench.adapters.shared.xplane import Event
from ipyjaxbench.graphs import exchanges_in
from ipyjaxbench.timing import Exchanged


class Exchanges:
    """Looks up the operations of a profile; programs are read when one of theirs is asked for."""

    def __init__(self) -> None:
        self._of_module = cache(_find)

    def find(self, event: Event) -> Exchanged | None:
        """Return what an operation exchanges; None where that is none, or not known for sure."""
        operation, module = (str(event.stats.get(name, "")) for name in ("hlo_op", "hlo_module"))
        if not operation or not module or jax.process_count() == 1:
            return None
        return self._of_module(module).get(operation)


def _find(module: str) -> Mapping[str, Exchanged]:
    """Return what operations exchange in the programs of a name, where these agree."""
    devices = jax.devices()
    client: Any = devices[0].client
    found: dict[str, set[Exchanged]] = {}
    programs = [m for e in client.live_executables() for m in e.hlo_modules() if m.name == module]
    for program in programs:
        of_program = exchanges_in(program.to_string(), len(devices))
        for operation, (kind, nbytes, participants) in of_program.items():
            exchanged = Exchanged(kind, nbytes, participants == len(devices))
            found.setdefault(operation, set()).add(exchanged)
    return {operation: each for operation, (each, *others) in found.items() if not others}
