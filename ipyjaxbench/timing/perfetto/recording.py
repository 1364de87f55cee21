"""A trace that was asked for: where it is to be written, and what the pass has done so far."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from ipyjaxbench import units
from ipyjaxbench.host import Clock
from ipyjaxbench.timing.measurement import Measurement
from ipyjaxbench.timing.options import TimeOptions
from ipyjaxbench.timing.perfetto.timeline import Timeline
from ipyjaxbench.timing.perfetto.trace_file import TraceFile
from ipyjaxbench.timing.runner import Calls


@dataclass(frozen=True)
class Recording:
    """A place for a trace, and what it is going to show."""

    path: Path
    timeline: Timeline

    def write(self, measured: Measurement, calls: Calls) -> Measurement:
        """Write the file, and return the measurement that knows of it; an interrupt is kept."""
        from ipyjaxbench.timing.perfetto.file import write_trace

        reasons = measured.device.reasons.values() if measured.device is not None else ()
        facts = {"code": measured.code, "versions": units.versions(measured.frameworks)}
        try:
            file = write_trace(self.path, self.timeline.sessions, facts, "; ".join(reasons))
        except KeyboardInterrupt as interrupt:
            calls.interrupt = interrupt
            file = TraceFile(str(self.path), reason="interrupted")
        return dataclasses.replace(measured, trace=file)


def start_recording(options: TimeOptions, clock: Clock | None = None) -> Recording | None:
    """Return where to keep what is recorded; None where no trace was asked for.

    Raises:
        OptionError: nothing can be written there, or a file would be lost.
    """
    if options.trace is None:
        return None
    from ipyjaxbench.timing.perfetto.file import find_target

    return Recording(find_target(options.trace), Timeline((clock or Clock.elapsed()).wall))
