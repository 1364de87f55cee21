"""The resident memory of the process while code runs, and the line of its highest sample."""

import itertools
import threading

from ipyjaxbench.device.memory_peak import MemoryPeak
from ipyjaxbench.host import Clock, highest_resident_memory, resident_memory
from ipyjaxbench.usercode import CodeLine, current_frames, innermost_line

_SECONDS = 1e-3  # between the first samples; twice as long whenever there are too many
_MAX_SAMPLES = 1200
_WAIT, _MAX_WAITS = 5e-3, 20  # seconds for memory to be given back, and how often
_SHOWN = 12  # points of the curve
_RISES = 1.02  # by this factor memory must rise before another line counts as the peak's


class ResidentCurve:
    """Samples the process's resident memory while it is open; nothing where no file tells it."""

    def __enter__(self) -> "ResidentCurve":
        self._samples: list[int] = []
        self._highest = 0
        self._done = threading.Event()
        _settle()
        self._thread_of_code = threading.get_ident()
        self._line: CodeLine | None = None
        self._outside = self._runs()
        self._before, self._highest_ever = resident_memory(), highest_resident_memory()
        self._thread: threading.Thread | None = None
        if self._before is not None:
            self._samples.append(self._before)
            self._highest = self._at_line = self._before
            self._thread = threading.Thread(
                target=self._sample, daemon=True, name="ipyjaxbench resident memory"
            )
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()
        _settle()
        self._after, self._highest_now = resident_memory(), highest_resident_memory()

    def peak(self) -> MemoryPeak | None:
        """Return how much more there was at the highest than before; None if no file tells it.

        The kernel's own highest is taken where the code has raised it, since no sample misses it.
        """
        if self._before is None or self._after is None:
            return None
        ever, now = self._highest_ever or 0, self._highest_now or 0
        highest = max(self._highest, self._after, now if now > ever else 0)
        peak = highest - self._before
        return MemoryPeak(
            framework="",
            place="",
            source="highest" if now > ever else "process",
            peak=peak,
            left=min(max(self._after - self._before, 0), peak),
            before=self._before,
            line=self._line.words() if self._line else "",
            curve=_highest_of_each_part([*self._samples, self._after]),
        )

    def _runs(self) -> CodeLine | None:
        """Return the line that runs now, of whoever opened this or of the code."""
        return innermost_line(current_frames().get(self._thread_of_code))

    def _sample(self) -> None:
        pause, before = _SECONDS, self._before or 0
        while not self._done.wait(pause):
            now = resident_memory()
            if now is None:
                continue
            self._samples.append(now)
            self._highest = max(now, self._highest)
            if now > before + _RISES * (self._at_line - before):
                line = self._runs()
                if line != self._outside:
                    self._at_line, self._line = now, line
            if len(self._samples) > _MAX_SAMPLES:
                pairs = zip(self._samples[::2], self._samples[1::2], strict=False)
                self._samples[:] = [max(pair) for pair in pairs]
                pause *= 2


def _settle() -> None:
    """Let memory go that was given back: threads of a framework do so a little later."""
    last, clock = resident_memory(), Clock.elapsed()
    for _ in range(_MAX_WAITS):
        clock.sleep(_WAIT)
        now = resident_memory()
        if now is None or last is None or now >= last:
            return
        last = now


def _highest_of_each_part(samples: list[int]) -> tuple[int, ...]:
    parts = min(_SHOWN, len(samples))
    ends = [len(samples) * part // parts for part in range(parts + 1)]
    return tuple(max(samples[start:end]) for start, end in itertools.pairwise(ends))
