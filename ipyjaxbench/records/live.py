"""What is measured now: a small file for each measurement, while it is made.

A kernel writes it, and removes it at the end; a server reads it. Nothing is asked of the kernel,
which would disturb what it measures. What cannot be written is given up.
"""

import math
import os
from contextlib import suppress
from contextvars import ContextVar, Token
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from ipyjaxbench.host import (
    Clock,
    data_folder,
    make_data_folder,
    open_private,
    process_space,
    process_start,
)
from ipyjaxbench.record_types import Moment, NonNegativeFloat, PositiveInt

_INTERVAL_NS = 500_000_000
_UNLIMITED = 3600.0  # seconds: a budget that long is none
_MAX_SILENCE = 60.0  # seconds: after them a process elsewhere counts as ended
_MAX_DEATH = 10.0  # seconds: how long a death is reported
_MAX_LINE, _MAX_BYTES = 200, 64_000
_SUFFIX, _UNFINISHED = ".json", ".tmp"

Phase = Literal["first call", "warming up", "measuring"]


@dataclass(frozen=True)
class LiveMeasurement:
    """A measurement that is being made.

    Attributes:
        host: where the number of the process means something.
        pid: number of the process.
        started: when the process began, by a clock of its system's; 0 if unknown.
        run: stem of the process's history file; empty if it has none yet.
        notebook: path or name of the notebook; empty if unknown.
        cell: the cell's id in the notebook; empty if unknown.
        line: first line of the code.
        began: when the measurement began, in seconds since 1970.
        updated: when this was written, in seconds since 1970.
        phase: "first call", "warming up" or "measuring".
        half_width: of the interval so far, relative to the median; None if unknown.
        left: seconds that it takes at most; None if unknown.
        died: whether the process ended in the middle; only a reader knows.
    """

    host: str
    pid: PositiveInt
    started: NonNegativeFloat
    run: str
    notebook: str
    cell: str
    line: str
    began: Moment
    updated: Moment
    phase: Phase = "first call"
    half_width: NonNegativeFloat | None = None
    left: NonNegativeFloat | None = None
    died: bool = False

    def is_over(self) -> bool | None:
        """Whether its process has ended; None where that cannot be known here."""
        if not self.started or self.host != process_space():
            return None
        return process_start(self.pid) != self.started


class Heartbeat:
    """Says in a file what is measured, as a context around the measurement.

    One within another one is silent: its file would be written in a sample of the outer one.

    Args:
        run: stem of the process's history file; empty if it has none yet.
        notebook: path or name of the notebook.
        cell: the cell's id in the notebook.
        line: first line of the code.
        clock: for the moments, and for how long ago it was written.
    """

    def __init__(self, run: str, notebook: str, cell: str, line: str, clock: Clock) -> None:
        self._clock = clock
        now, pid = clock.now() * 1e-9, os.getpid()
        started = process_start(pid) or 0.0
        self._facts = LiveMeasurement(
            process_space(), pid, started, run, notebook, cell, line[:_MAX_LINE], now, now
        )
        self._path: Path | None = None
        self._next = 0
        self._token: Token[bool] | None = None

    def __enter__(self) -> "Heartbeat":
        try:
            if not _is_beating.get():
                self._token = _is_beating.set(True)
                if folder := make_data_folder("live"):
                    _remove_stale(folder, self._facts.began)
                    self._path = folder / f"{self._facts.pid}-{os.urandom(4).hex()}{_SUFFIX}"
                    self._write("first call", None, None)
            return self
        except BaseException:  # Ctrl-C among them: nobody else would remove the file
            self.end()
            raise

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Remove the file; it does no harm to do so again, where Ctrl-C came between."""
        if self._token is not None:
            # It was left in another task than it was entered in, or Ctrl-C came after this line.
            with suppress(ValueError, RuntimeError):
                _is_beating.reset(self._token)
            self._token = None
        if self._path is not None and self._facts.pid == os.getpid():
            for suffix in (_SUFFIX, _UNFINISHED):
                with suppress(OSError):
                    self._path.with_suffix(suffix).unlink()
        self._path = None

    def wait(self, seconds: float) -> None:  # noqa: ARG002
        """Say that the first call still runs."""
        self._write("first call", None, None)

    def __call__(self, half_width: float, left: int) -> None:
        """Say how far it is; for the arguments see `OnProgress`."""
        if self._path is None or self._clock.wall() < self._next:
            return
        phase: Phase = "warming up" if math.isinf(half_width) else "measuring"
        seconds = left * 1e-9
        self._write(
            phase,
            half_width if math.isfinite(half_width) else None,
            seconds if 0 < seconds < _UNLIMITED else None,
        )

    def _write(self, phase: Phase, half_width: float | None, left: float | None) -> None:
        """Write the file, unless this is a child that was forked in the middle."""
        path, facts = self._path, self._facts
        if path is None or facts.pid != os.getpid():
            return
        import msgspec

        self._next = self._clock.wall() + _INTERVAL_NS
        now = self._clock.now() * 1e-9
        told = replace(facts, updated=now, phase=phase, half_width=half_width, left=left)
        with suppress(OSError):
            unfinished = path.with_suffix(_UNFINISHED)
            with open(unfinished, "wb", opener=open_private) as file:
                file.write(msgspec.json.encode(told))
            unfinished.replace(path)


#: Whether the code that runs now is within a measurement that says so.
_is_beating: ContextVar[bool] = ContextVar("is_beating", default=False)


class LiveReader:
    """Reads what is measured now; nothing is written, and nothing asked of a kernel.

    Args:
        folder: of the files; None for that in Jupyter's data directory.
        clock: for the moments.
    """

    def __init__(self, folder: Path | None = None, clock: Clock | None = None) -> None:
        self.folder = folder or data_folder("live")
        self._clock = clock or Clock.calendar()
        self._deaths: dict[str, float] = {}
        self._alive: set[str] = set()

    def read(self) -> tuple[LiveMeasurement, ...]:
        """Return what is measured now, the first that began first.

        One whose process died in the middle is among them for some seconds after that was seen.
        """
        now = self._clock.now() * 1e-9
        found = {path.name: live for path in _files(self.folder, _SUFFIX) if (live := _read(path))}
        self._deaths = {name: when for name, when in self._deaths.items() if name in found}
        told = [each for name, live in found.items() if (each := self._judge(name, live, now))]
        self._alive &= found.keys()
        return tuple(sorted(told, key=lambda live: live.began))

    def _judge(self, name: str, live: LiveMeasurement, now: float) -> LiveMeasurement | None:
        """Return a measurement, and whether its process died; None where it is long over."""
        is_over, is_silent = live.is_over(), now - live.updated > _MAX_SILENCE
        if is_over:
            news = name in self._alive or not is_silent
            died = self._deaths.setdefault(name, now if news else -math.inf)
            return replace(live, died=True) if now - died <= _MAX_DEATH else None
        if is_over is None and is_silent:
            return None
        self._alive.add(name)
        return live


def _remove_stale(folder: Path, now: float) -> None:
    """Remove what processes left that ended in the middle; a reader had some seconds to see it."""
    for path in _files(folder, _SUFFIX, _UNFINISHED):
        live = _read(path)
        try:
            updated = live.updated if live else path.stat().st_mtime
            silent = now - updated
            is_over = live.is_over() if live else None
            if silent > (_MAX_DEATH if is_over else _MAX_SILENCE) and is_over is not False:
                path.unlink()
        except OSError:
            continue


def _files(folder: Path, *suffixes: str) -> list[Path]:
    """Return the files of a folder; none where there is no folder."""
    try:
        with os.scandir(folder) as entries:
            return [
                Path(entry.path)
                for entry in entries
                if entry.name.endswith(suffixes) and entry.is_file(follow_symlinks=False)
            ]
    except OSError:
        return []


def _read(path: Path) -> LiveMeasurement | None:
    """Return what a file says; None where it has just been removed, or is none of ours."""
    import msgspec

    try:
        with path.open("rb") as file:
            live: LiveMeasurement = _decoder().decode(file.read(_MAX_BYTES))
    except (OSError, msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return live


@cache
def _decoder() -> Any:
    import msgspec

    return msgspec.json.Decoder(LiveMeasurement)
