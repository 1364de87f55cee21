"""What a compilation cache on disk makes of programs that took long to compile."""

from dataclasses import dataclass
from typing import Literal

from ipyjaxbench import units
from ipyjaxbench.record_types import NonNegativeFloat

#: Seconds of compiling from which on it is told; JAX keeps nothing that took less.
LEAST_SECONDS = 1.0


@dataclass(frozen=True)
class CacheUse:
    """Whether a framework's cache on disk keeps what was compiled.

    Attributes:
        framework: whose cache it is.
        state: "off"; "kept", for new sessions; "not kept".
        seconds: how long compiling took.
        details: what turns the cache on, or why it did not keep what was compiled.
    """

    framework: str
    state: Literal["off", "kept", "not kept"]
    seconds: NonNegativeFloat
    details: str = ""

    def words(self) -> str:
        """Return the row of a report.

        Example:
            >>> CacheUse("jax", "kept", 1.92).words()
            'kept; a new session compiles up to 1.9 s less'
            >>> CacheUse("torch", "off", 1.92, "config.fx_graph_cache = True").words()
            'off; with config.fx_graph_cache = True a new session compiles up to 1.9 s less'
        """
        if self.state == "not kept":
            return f"not kept: {self.details}"
        saved = f"a new session compiles up to {units.duration(self.seconds, 2)} less"
        return f"off; with {self.details} {saved}" if self.state == "off" else f"kept; {saved}"
