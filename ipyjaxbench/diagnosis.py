"""Why a call would not trace: the line, the argument that is responsible, and what to write."""

from dataclasses import dataclass
from typing import ClassVar

from ipyjaxbench.report import Block, Facts, Headline, Report
from ipyjaxbench.result import Result


@dataclass(frozen=True)
class Fix:
    """Code that was tried.

    Attributes:
        code: what to write.
        cost: what it costs or changes, in words; empty where nothing.
    """

    code: str
    cost: str = ""


class UntraceableError(Exception):
    """A call cannot be traced.

    Attributes:
        diagnosis: why, and what to write.
        error: what tracing raised.
    """

    def __init__(self, diagnosis: "Diagnosis", error: Exception) -> None:
        super().__init__(f"{diagnosis.error}: {diagnosis.message}")
        self.diagnosis, self.error = diagnosis, error


@dataclass(frozen=True, repr=False)
class Diagnosis(Result):
    """Why a call would not trace.

    Attributes:
        code: the call, as typed.
        error: the name of the error's type.
        message: the first line of its text.
        line: the number of the user's line that failed; 0 where it is not known.
        source: that line.
        because: what is wrong with it, in words.
        blamed: arguments whose values are asked for.
        fixes: what was tried, and traces.
        advice: what could not be tried.
        tries: how often the user's code was traced to find that.
    """

    kind: ClassVar[str] = "diagnosis"

    code: str
    error: str
    message: str
    line: int
    source: str
    because: str
    blamed: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    advice: str = ""
    tries: int = 1

    def check(self) -> str | None:
        """Why these facts cannot be true, in words; None where they can."""
        return "a count is too small" if self.tries < 1 or self.line < 0 else None

    def __repr__(self) -> str:
        """One line."""
        return f"<Diagnosis {self.code}: {self.error}>"

    def report(self) -> Report:
        """What is wrong, headline first."""
        rows = [("line", f"{self.line}: {self.source}")] if self.line else []
        rows.append(("because", self.because))
        if self.blamed:
            rows.append(("argument", ", ".join(self.blamed)))
        for fix in self.fixes:
            cost = f"  # {fix.cost}" if fix.cost else ""
            rows.append(("write", f"{fix.code}{cost}"))
        if self.fixes:
            rows.append(("tried", "so written it traces"))
        elif self.advice:
            rows.append(("advice", f"{self.advice} (not tried)"))
        rows.append(("error", f"{self.error}: {self.message}"))
        head = Headline(self.code, "does not trace", "", "FAILED", "")
        blocks: list[Block] = [head, Facts(tuple(rows))]
        return Report(tuple(blocks))
