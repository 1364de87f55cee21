"""The program that a call is: what goes in, what comes out, what is computed, at what cost."""

import dataclasses
import difflib
import math
from dataclasses import dataclass
from typing import Any, ClassVar

from ipyjaxbench import graph_report
from ipyjaxbench.notes import Note
from ipyjaxbench.report import Report
from ipyjaxbench.result import Result


@dataclass(frozen=True)
class Value:
    """An array that goes in or comes out, or that is part of the program.

    Attributes:
        name: what it is called; empty where it has no name.
        dtype: such as "float32".
        shape: such as (3, 4).
        nbytes: that it takes.
        weak: whether its dtype gives way to that of others, as a Python number's does.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    nbytes: int
    weak: bool = False


@dataclass(frozen=True)
class Count:
    """How often something is computed.

    Attributes:
        name: a primitive, or the text of a line of code.
        times: how many operations.
        flops: floating-point operations in all of them.
        line: of the code; 0 where it is not known, and for primitives.
        parts: the primitives, where it is a line.
    """

    name: str
    times: int
    flops: float
    line: int = 0
    parts: tuple[str, ...] = ()


def difference(before: "Graph", now: "Graph") -> "Graph":
    """A graph whose text is what differs from another one.

    Args:
        before: the other one.
        now: of which all other facts are told.

    Returns:
        The graph; the lines of its text begin with "-", "+" or a blank.
    """
    lines = difflib.unified_diff(
        before.program.splitlines(), now.program.splitlines(), before.code, now.code, "", "", 2, ""
    )
    text = "\n".join(lines) or "the programs are the same"
    changed = dataclasses.replace(now, form=f"{now.form} diff", program=text)
    object.__setattr__(changed, "_jaxpr", now.jaxpr)
    return changed


@dataclass(frozen=True)
class Estimate:
    """What the compiler of a chip expects of a program; nothing was run on one.

    Attributes:
        chip: such as "tpu:v5e".
        seconds: of one run, as the compiler estimates it; None where it did not compile.
        flops: floating-point operations of the compiled program.
        moved: bytes that are read and written.
        memory: bytes that are needed at once; 0 where that is not told.
        limit: bytes that the chip has.
        error: why it did not compile, where it is not for lack of memory.
    """

    chip: str
    seconds: float | None
    flops: float | None
    moved: float | None
    memory: int
    limit: int
    error: str = ""


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
        uncounted: what could not be counted, in words.
        primitives: how often each is computed, the costliest first.
        lines: how much each line of code computes, in their order.
        static_argnames: arguments on whose values the program depends.
        fixed: arguments that are no data, and so are part of the program too.
        tries: how often the user's code was traced.
        seconds: what tracing took.
        printed: what the user's code printed while it was traced for the last time.
        estimates: what compilers of chips expect of it.
        notes: what to know of it.
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
    operations: int
    flops: float
    uncounted: tuple[str, ...]
    primitives: tuple[Count, ...]
    lines: tuple[Count, ...]
    static_argnames: tuple[str, ...]
    fixed: tuple[str, ...]
    tries: int
    seconds: float
    printed: str = ""
    estimates: tuple[Estimate, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def jaxpr(self) -> Any:
        """JAX's own object; None for other frameworks, and where it was read from a record."""
        return getattr(self, "_jaxpr", None)

    @property
    def nbytes(self) -> int:
        """Bytes of all that goes in and comes out."""
        return sum(value.nbytes for value in (*self.inputs, *self.outputs))

    def check(self) -> str | None:
        """Why these facts cannot be true, in words; None where they can."""
        if not (0 <= self.seconds < math.inf and 0 <= self.flops < math.inf):
            return "a number is negative or not a number"
        if self.operations < 0 or self.tries < 1:
            return "a count is too small"
        return None

    def __repr__(self) -> str:
        """One line."""
        return f"<Graph {self.code}: {self.operations} operations>"

    def report(self) -> Report:
        """What was found, headline first."""
        return graph_report.report(self)
