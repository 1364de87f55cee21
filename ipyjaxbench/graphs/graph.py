"""The program that a call is: what goes in, what comes out, what is computed, at what cost."""

import dataclasses
import difflib
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar

from ipyjaxbench.errors import OptionError, SnippetError
from ipyjaxbench.graphs.components import (
    Break,
    Compiled,
    Count,
    Estimate,
    ProgramHandle,
    Uncounted,
    Value,
)
from ipyjaxbench.graphs.options import STAGES
from ipyjaxbench.record_types import NonNegativeFloat, NonNegativeInt, PositiveInt
from ipyjaxbench.reports import Note, Result

_Context = Callable[[], AbstractContextManager[object]]
_NAMES = {"jax": "JAX", "torch": "PyTorch", "tensorflow": "TensorFlow"}


def difference(before: "Graph", now: "Graph") -> "Graph":
    """Return the second graph, with what differs from the first one as its text."""
    old, new = (graph.text().splitlines() for graph in (before, now))
    lines = difflib.unified_diff(old, new, before.code, now.code, "", "", 2, "")
    text = "\n".join(lines) or "the programs are identical"
    changed = dataclasses.replace(now, form=f"{now.form} diff", program=text)
    return changed.attach(now.live, now._while_asking) if now.live else changed


@dataclass(frozen=True, repr=False)
class Graph(Result):
    """The program that a call is; nothing was computed to find it.

    Attributes:
        code: the call, as typed.
        framework: whose program it is.
        frameworks: versions of those in play.
        form: what the text is: "jaxpr", "stablehlo", "hlo", "optimized", "aten", "tf".
        program: the text.
        inputs: arrays that go in.
        outputs: arrays that come out.
        constants: arrays that are part of the program, the largest first.
        operations: how many there are, those of inner programs among them.
        flops: floating-point operations, with every turn of each `scan`.
        uncounted: what could not be counted; old records hold sentences.
        stats: how often each primitive is computed, the costliest first.
        lines: how much each line of code computes, in their order.
        static_argnames: arguments on whose values the program depends.
        fixed: arguments that are no inputs, and so are part of the program too.
        tries: how often the user's code was traced.
        seconds: what tracing took.
        printed: what the user's code printed while it was traced for the last time.
        estimates: what compilers of chips expect of it.
        notes: what to know of it.
        compiled: what the framework's own compiler made of it; None where it was not asked.
        breaks: where the program ends and Python goes on.
        warm: jitted functions in it whose traces the framework keeps from now on.
        details: what was asked for: the tables "stats" and "src", and "check".
        clear: what ``--check`` looked for, where it found nothing.
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
    printed: str = ""
    estimates: tuple[Estimate, ...] = ()
    notes: tuple[Note, ...] = ()
    compiled: Compiled | None = None
    breaks: tuple[Break, ...] = ()
    warm: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    clear: tuple[str, ...] = ()

    def attach(self, live: ProgramHandle, around: _Context = nullcontext) -> "Graph":
        """Return this graph with its program in memory, and a context in which that is asked."""
        object.__setattr__(self, "_live", live)
        object.__setattr__(self, "_around", around)
        return self

    def _while_asking(self) -> AbstractContextManager[object]:
        around: _Context = getattr(self, "_around", nullcontext)
        return around()

    @property
    def live(self) -> ProgramHandle | None:
        """What its framework can still tell; None where it was read from a record."""
        return getattr(self, "_live", None)

    @property
    def graph(self) -> Any:
        """The framework's own object, such as a ClosedJaxpr; None if it was read from a record."""
        return self.live.program if self.live else None

    @property
    def jaxpr(self) -> Any:
        """JAX's own object; None for other frameworks, and where it was read from a record."""
        return self.graph if self.framework == "jax" else None

    def text(self, stage: str | None = None) -> str:
        """Return the whole text of a stage; a late one is made when it is asked for.

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
        """What any way of computing it has to move: inputs, outputs and constants, in bytes.

        Arrays whose bytes are known only when it runs are left out.
        """
        return sum(value.nbytes for value in (*self.inputs, *self.outputs, *self.constants))

    @property
    def memory(self) -> int | None:
        """Bytes that it needs at once, as its framework's compiler plans them; None if unknown.

        The compiler is asked now if it was not asked before.
        """
        known = self.compiled
        if known is None and self.live is not None:
            with self._while_asking():
                known = self.live.compiled()
        return known.memory if known else None

    @property
    def checks(self) -> tuple[Note, ...]:
        """What it holds that may not be expected, whether ``--check`` was given or not."""
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
