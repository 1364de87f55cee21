"""What frameworks may take of a GPU's memory: what was set, what could not be, how to undo it."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ipyjaxbench.errors import by_caller
from ipyjaxbench.reports import Result


@dataclass(frozen=True)
class MemorySetting:
    """One memory setting of one framework.

    Attributes:
        framework: its name.
        words: what was changed, or why nothing was.
        undo: code that undoes it; empty where nothing was changed.
    """

    framework: str
    words: str
    undo: str = ""


@dataclass(frozen=True, repr=False)
class MemorySettings(Result):
    """Memory settings of all frameworks.

    Attributes:
        asked: the options, such as "--no-prealloc".
        settings: by framework.
        note: that applies to all of them; may be empty.
        frameworks: versions of those that are installed, by name.
    """

    kind: ClassVar[str] = "memory settings"

    asked: str
    settings: tuple[MemorySetting, ...]
    note: str = ""
    frameworks: dict[str, str] = field(default_factory=dict)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each framework."""
        return [
            {"framework": each.framework, "setting": each.words, "undo": each.undo}
            for each in self.settings
        ]

    def __repr__(self) -> str:
        """One line."""
        return f"<MemorySettings {self.asked}>"


@dataclass(frozen=True)
class MemoryRequest:
    """What is to be set of a GPU's memory.

    Attributes:
        prealloc: False has frameworks take memory as they need it, not at their start.
        fraction: that a framework may take; None leaves that as it is.
    """

    prealloc: bool = True
    fraction: float | None = None

    def __str__(self) -> str:
        """Return it as it is typed, such as "--no-prealloc"."""
        options = [] if self.prealloc else ["--no-prealloc"]
        options += [] if self.fraction is None else [f"--mem-fraction {self.fraction:g}"]
        return " ".join(options)


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

    def set(self, request: MemoryRequest) -> Iterator[MemorySetting]:
        """Set them, before the framework has looked for GPUs; yield what was set, or why not."""
        if not request.prealloc:
            if isinstance(self.prealloc, str):
                yield MemorySetting(self.framework, self.prealloc)
            else:
                yield self._set(*self.prealloc)
        if request.fraction is not None:
            if isinstance(self.fraction, str):
                yield MemorySetting(self.framework, self.fraction)
            else:
                in_use = (name for name in self.fraction if name in os.environ)
                yield self._set(next(in_use, self.fraction[0]), f"{request.fraction:g}")

    def _set(self, name: str, value: str) -> MemorySetting:
        before = os.environ.get(name)
        if before == value:
            return MemorySetting(self.framework, f"{name}={value} was already set")
        os.environ[name] = value
        return MemorySetting(
            self.framework,
            f"set {name}={value} in the environment; takes effect at first use",
            f"del os.environ[{name!r}]" if before is None else f"os.environ[{name!r}] = {before!r}",
        )


_NO_PREALLOC = "never preallocates; nothing to change"
_LATER = "has no environment variable for this: import it, then run this again before its first use"

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


def how_to_allocate_on_demand(framework: str) -> str:
    """Return what a framework that preallocates GPU memory needs before its first use."""
    variable = "=".join(MEMORY_VARIABLES[framework].prealloc)
    return by_caller("run `%fwdevices --no-prealloc`", f"set {variable} in the environment")


def too_late(framework: str, request: MemoryRequest) -> MemorySetting:
    """Return why nothing was set where the framework has started."""
    return MemorySetting(
        framework,
        "too late: it has already initialized its GPUs. Restart the kernel and run"
        f" `%fwdevices {request}` before its first use",
    )
