"""Why a call would not trace: the line, the argument that is responsible, and what to write."""

from dataclasses import dataclass
from typing import ClassVar

from ipyjaxbench.record_types import NonNegativeInt, PositiveInt
from ipyjaxbench.reports import Result


@dataclass(frozen=True)
class Fix:
    """Code that was tried.

    Attributes:
        code: what to write.
        cost: what it costs or changes, in words; empty where nothing.
        same: the code with which it was found to agree, as "without jit"; empty if with none.
    """

    code: str
    cost: str = ""
    same: str = ""


@dataclass(frozen=True)
class Pitfall:
    """A way in which code fails to trace.

    Attributes:
        errors: names of the types of errors; any where it is empty.
        text: in the error's message; any where it is empty.
        because: what is wrong, in words.
        advice: what helps and cannot be tried.
        source: in the failing line; any where it is empty.
        after: in the line after it.
        asks: whether the value of an argument is asked for.
    """

    errors: tuple[str, ...]
    text: str
    because: str
    advice: str = ""
    source: str = ""
    after: str = ""
    asks: bool = False


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
        inside: the function that holds the line, where it is not the one that was called.
        static: arguments that have to be static besides.
        eager: what the code raises without jit too; empty where nothing is known of that.
        stopped: whether choices of static arguments were left untried, for want of time.
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

    def __repr__(self) -> str:
        """One line."""
        return f"<Diagnosis {self.code}: {self.error}>"
