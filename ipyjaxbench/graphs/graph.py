"""The program that a call is: what goes in, what comes out, what is computed, at what cost."""

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

from ipyjaxbench.errors import OptionError, SnippetError
from ipyjaxbench.graphs.compiled import Compiled, Estimate
from ipyjaxbench.graphs.components import Break, ProgramHandle, Value
from ipyjaxbench.graphs.counts import Count, Uncounted
from ipyjaxbench.graphs.diagnosis import Fix
from ipyjaxbench.graphs.options import STAGES
from ipyjaxbench.graphs.program_changes import (
    HLO_FORMS,
    IDENTICAL,
    ProgramChange,
    compare_counts,
    compare_hlo,
    diff_hlo,
    diff_lines,
)
from ipyjaxbench.record_types import NonNegativeFloat, NonNegativeInt, PositiveInt
from ipyjaxbench.reports import Note, Result

_Context = Callable[[], AbstractContextManager[object]]
_NAMES = {"jax": "JAX", "torch": "PyTorch", "tensorflow": "TensorFlow"}


def difference(before: "Graph", now: "Graph") -> "Graph":
    """Return the second graph, with what differs from the first one as its text."""
    texts, names = (before.text(), now.text()), (before.code, now.code)
    if now.form in HLO_FORMS:
        text, changes = diff_hlo(*texts, names), compare_hlo(*texts)
    else:
        text = diff_lines(*texts, names) or IDENTICAL
        changes = compare_counts(*map(_count_operations, (before, now)))
    changed = dataclasses.replace(now, form=f"{now.form} diff", program=text, changes=changes)
    return changed.attach(now.live, *contexts_of(now)) if now.live else changed


def contexts_of(graph: "Graph") -> tuple[_Context, ...]:
    """Return the contexts in which the program in memory is asked."""
    found: tuple[_Context, ...] = getattr(graph, "_around", ())
    return found


def _count_operations(graph: "Graph") -> dict[tuple[str, str], int]:
    return {("operation", count.name): count.times for count in graph.stats}


@dataclass(frozen=True, repr=False)
class Graph(Result):
    """The program of a call, found by tracing it.

    Attributes:
        code: the call, as typed.
        framework: the framework that traced it.
        frameworks: versions of the frameworks involved.
        form: form of the text: "jaxpr", "stablehlo", "hlo", "optimized", "aten" or "tf".
        program: text of the program.
        inputs: input arrays.
        outputs: output arrays.
        constants: arrays captured as constants, largest first.
        operations: number of operations, including those of inner programs.
        flops: floating-point operations, with every iteration of each `scan`.
        uncounted: what could not be counted; old records hold sentences.
        stats: count and cost of each primitive, the most expensive first.
        lines: cost of each source line, in order.
        static_argnames: arguments whose values the program depends on.
        fixes: what to write so that one program serves all values of arguments that are static.
        fixed: arguments that are baked into the program, such as functions and strings.
        tries: number of traces of the user's code.
        has_setup: whether statements above the expression were executed.
        seconds: time spent tracing.
        printed: what the user's code printed during the last trace.
        estimates: estimates by the compilers of other chips.
        notes: what to know about the program.
        compiled: counts by the framework's compiler; None if it was not compiled.
        breaks: graph breaks.
        warm: jitted functions that were traced now; the framework caches those traces.
        cached: jitted functions that had been traced for these arguments before.
        details: which of "stats", "src" and "check" the report shows.
        clear: what ``--check`` looked for without finding anything.
        changes: with ``--diff``, counts that differ from those of the other program.
    """

    kind: ClassVar[str] = "graph"

    code: str
    framework: str
    frameworks: dict[str, str]
    form: str
    program: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    constants: tuple[Value, ...]
    operations: NonNegativeInt
    flops: NonNegativeFloat
    uncounted: tuple[Uncounted | str, ...]
    stats: tuple[Count, ...]
    lines: tuple[Count, ...]
    seconds: NonNegativeFloat
    static_argnames: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    tries: PositiveInt = 1
    has_setup: bool = False
    printed: str = ""
    estimates: tuple[Estimate, ...] = ()
    notes: tuple[Note, ...] = ()
    compiled: Compiled | None = None
    breaks: tuple[Break, ...] = ()
    warm: tuple[str, ...] = ()
    cached: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    clear: tuple[str, ...] = ()
    changes: tuple[ProgramChange, ...] = ()
    fixes: tuple[Fix, ...] = ()

    def attach(self, live: ProgramHandle, *around: _Context) -> "Graph":
        """Return this graph with its program in memory, and the contexts in which to query it."""
        object.__setattr__(self, "_live", live)
        object.__setattr__(self, "_around", around)
        return self

    def detach(self) -> "Graph":
        """Return this graph with its whole text and no program in memory: it keeps no array."""
        return dataclasses.replace(self, program=self.text())

    @contextmanager
    def _while_asking(self) -> Iterator[None]:
        with ExitStack() as stack:
            for each in contexts_of(self):
                stack.enter_context(each())
            yield

    @property
    def live(self) -> ProgramHandle | None:
        """The framework's own objects; None if read from a record."""
        return getattr(self, "_live", None)

    @property
    def graph(self) -> Any:
        """The framework's own object, such as a ClosedJaxpr; None if read from a record."""
        return self.live.program if self.live else None

    @property
    def jaxpr(self) -> Any:
        """The ClosedJaxpr; None for other frameworks, and if read from a record."""
        return self.graph if self.framework == "jax" else None

    def text(self, stage: str | None = None) -> str:
        """Return the whole text of a stage, lowering or compiling as needed.

        Args:
            stage: as ``--stage`` takes it; None for the one that is shown.

        Returns:
            The text, nothing of it folded.

        Raises:
            OptionError: the framework has no such stage.
            SnippetError: the graph was read from a record, which holds one stage alone.
        """
        __tracebackhide__ = True
        is_diff = self.form.endswith(" diff") and stage is None
        stages = STAGES.get(self.framework, ())  # what others have is theirs to say
        if stages and stage is not None and stage not in stages:
            name = _NAMES[self.framework]
            raise OptionError(f"stage {stage!r}: {name} has {', '.join(stages)}")
        if self.live is not None and not is_diff:
            with self._while_asking():
                return self.live.text(stage or self.form)
        if stage in (None, self.form):
            return self.program
        raise SnippetError(
            f"a saved record holds only the stage {self.form!r}: trace the call again"
        )

    @property
    def bytes(self) -> int:
        """Bytes of inputs, outputs and constants.

        Arrays whose bytes are known only when it runs are left out.
        """
        return sum(value.nbytes for value in (*self.inputs, *self.outputs, *self.constants))

    @property
    def memory(self) -> int | None:
        """Peak bytes of memory, as planned by the compiler; None if unknown.

        The compiler is asked now if it was not asked before.
        """
        known = self.compiled
        if known is None and self.live is not None:
            with self._while_asking():
                known = self.live.compiled()
        return known.memory if known else None

    @property
    def checks(self) -> tuple[Note, ...]:
        """What ``--check`` finds, with or without the option."""
        if self.live is None:
            return self.notes
        with self._while_asking():
            return self.live.checks()

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each primitive: how often it is computed, with its FLOP."""
        return [{"operation": c.name, "count": c.times, "flop": c.flops} for c in self.stats]

    def __repr__(self) -> str:
        """One line."""
        return f"<Graph {self.code}: {self.operations} operations>"
