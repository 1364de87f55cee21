"""Why a call does not trace: the line, the argument that is responsible, and what to write."""

from dataclasses import dataclass
from typing import Any, ClassVar

from ipyjaxbench.record_types import NonNegativeInt, PositiveInt
from ipyjaxbench.reports import Result


@dataclass(frozen=True)
class Fix:
    """A change with which the call was found to trace.

    Attributes:
        code: what to write.
        cost: what it costs or changes, in words; empty if nothing.
        same: how its values were found to be the same, as "without jit"; empty if not compared.
        replaces: the lines that it replaces; empty if it replaces none.
    """

    code: str
    cost: str = ""
    same: str = ""
    replaces: str = ""


@dataclass(frozen=True)
class Pitfall:
    """A known way in which code fails to trace.

    Attributes:
        errors: names of the types of errors; any where it is empty.
        text: in the error's message; any where it is empty.
        because: what is wrong, in a sentence; "{expression|it}" in it is the failing expression.
        advice: what helps and cannot be verified, in a sentence.
        source: in the failing line; any where it is empty.
        after: in the line after it.
        expression: in the failing expression; any where it is empty.
        asks: whether it needs the value of an argument.
    """

    errors: tuple[str, ...]
    text: str
    because: str
    advice: str = ""
    source: str = ""
    after: str = ""
    asks: bool = False
    expression: str = ""


class UntraceableError(Exception):
    """A call cannot be traced.

    Attributes:
        diagnosis: why, and what to write.
        error: what tracing raised.
    """

    def __init__(self, diagnosis: "Diagnosis", error: BaseException) -> None:
        super().__init__(f"{diagnosis.error}: {diagnosis.message}")
        self.diagnosis, self.error = diagnosis, error


@dataclass(frozen=True, repr=False)
class Diagnosis(Result):
    """Why a call does not trace.

    Attributes:
        code: the call, as typed.
        error: the name of the exception's type.
        message: the first line of its text.
        line: the number of the user's line that failed; 0 if unknown.
        source: that line.
        because: what is wrong with it, in a sentence.
        blamed: arguments whose values are needed.
        fixes: changes with which the call was found to trace.
        advice: what may help, and was not verified.
        tries: how often the user's code was traced to find that.
        inside: the function that holds the line, if it is not the one that was called.
        static: further arguments that must be static.
        eager: what the code raises without jit too; empty if it does not, or was not run.
        stopped: whether the search for static arguments ended early, as it took too long.
    """

    kind: ClassVar[str] = "diagnosis"

    code: str
    error: str
    message: str
    line: NonNegativeInt
    source: str
    because: str
    blamed: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    advice: str = ""
    tries: PositiveInt = 1
    inside: str = ""
    static: tuple[str, ...] = ()
    eager: str = ""
    stopped: bool = False

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each fix, the best one first."""
        where = {"line": self.line, "source": self.source, "error": self.error}
        return [{**where, "fix": fix.code, "cost": fix.cost} for fix in self.fixes]

    def __repr__(self) -> str:
        """One line."""
        return f"<Diagnosis {self.code}: {self.error}>"
