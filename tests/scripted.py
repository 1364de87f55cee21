"""A clock that is told the time, and a machine on which nothing else runs."""

from typing import Any

from ipyjaxbench.host import Clock, Conditions

#: Nanoseconds that a call takes, whatever it does.
PER_CALL = 10_000_000


class IdleMachine:
    """In place of a `Meter`: counts no disturbance."""

    def __init__(self, clock: Clock, **_: Any) -> None: ...

    def waited(self) -> float | None:
        return 0.0

    def read(self) -> Conditions:
        return Conditions(wall=1.0, cpu=1.0, cpus=4, usable=4, busy=1.0, steal=0.0)
