"""What frameworks may take of a GPU's memory: what was set, what could not be, how to undo it."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ipyjaxbench.reports import Result


@dataclass(frozen=True)
class MemorySetting:
    """What became of what was asked, in one framework.

    Attributes:
        framework: whose memory.
        words: what was set, or why it was not.
        undo: what to type to have it as before; empty where nothing was set.
    """

    framework: str
    words: str
    undo: str = ""


@dataclass(frozen=True, repr=False)
class MemorySettings(Result):
    """What became of what was asked, in all frameworks.

    Attributes:
        asked: as it is typed, such as "--no-prealloc".
        settings: by framework.
        note: what holds for all of them; empty where nothing does.
    """

    kind: ClassVar[str] = "memory settings"

    asked: str
    settings: tuple[MemorySetting, ...]
    note: str = ""

    def __repr__(self) -> str:
        """One line."""
        return f"<MemorySettings {self.asked}>"


@dataclass(frozen=True)
class MemoryVariables:
    """What the environment tells a framework of a GPU's memory.

    Attributes:
        framework: that reads it.
        prealloc: the variable, and its value for "take memory as it is needed"; or why there is
            none.
        fraction: variables for the share of a GPU's memory that it may take, the first of which is
            set where none is; or why there is none.
    """

    framework: str
    prealloc: tuple[str, str] | str
    fraction: tuple[str, ...] | str

    def set(self, *, prealloc: bool, fraction: float | None) -> Iterator[MemorySetting]:
        """Set them, before the framework has looked for GPUs.

        Args:
            prealloc: False sets the first one.
            fraction: value of the second one; None leaves it as it is.

        Yields:
            What was set, or why it was not.
        """
        if not prealloc:
            yield self._setting(self.prealloc if isinstance(self.prealloc, str)
                             else self._set(*self.prealloc))  # fmt: skip
        if fraction is not None:
            if isinstance(self.fraction, str):
                yield self._setting(self.fraction)
                return
            name = next((each for each in self.fraction if each in os.environ), self.fraction[0])
            yield self._setting(self._set(name, f"{fraction:g}"))

    def _setting(self, what: MemorySetting | str) -> MemorySetting:
        return MemorySetting(self.framework, what) if isinstance(what, str) else what

    def _set(self, name: str, value: str) -> MemorySetting:
        before = os.environ.get(name)
        if before == value:
            return MemorySetting(self.framework, f"the environment had {name}={value} before")
        os.environ[name] = value
        return MemorySetting(
            self.framework,
            f"set {name}={value} in the environment, which it reads at its first use",
            f"del os.environ[{name!r}]" if before is None else f"os.environ[{name!r}] = {before!r}",
        )


_NO_PREALLOC = "takes memory as it needs it: there is nothing to turn off"
_LATER = "the environment sets no share: import it, and type this again before its first use"

MEMORY_VARIABLES = {
    "jax": MemoryVariables(
        "jax",
        ("XLA_PYTHON_CLIENT_PREALLOCATE", "false"),
        # The first one is known to all versions; JAX takes no two of them.
        ("XLA_PYTHON_CLIENT_MEM_FRACTION", "XLA_CLIENT_MEM_FRACTION"),
    ),
    "torch": MemoryVariables("torch", _NO_PREALLOC, _LATER),
    "tensorflow": MemoryVariables("tensorflow", ("TF_FORCE_GPU_ALLOW_GROWTH", "true"), _LATER),
}


def too_late(framework: str, *, prealloc: bool, fraction: float | None) -> MemorySetting:
    """Return why nothing was set where the framework has started.

    Example:
        >>> too_late("jax", prealloc=False, fraction=None).words[:28]
        'too late: it has started its'
    """
    asked = [] if prealloc else ["--no-prealloc"]
    asked += [] if fraction is None else [f"--mem-fraction {fraction:g}"]
    return MemorySetting(
        framework,
        "too late: it has started its GPUs in this process. Restart the kernel, and type"
        f" %fwdevices {' '.join(asked)} before its first use",
    )
