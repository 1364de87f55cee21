"""What an error itself shows: its pitfall, and the diagnosis before anything is tried."""

import re
from collections.abc import Iterator, Sequence

from ipyjaxbench.graphs import Diagnosis, Pitfall

MAX_FIXES = 3
UNKNOWN = "The code raises this error while it is traced."
_EXPRESSION = re.compile(r"\{expression\|([^}]*)\}")
_LONGEST_EXPRESSION = 40  # characters


def failing_expression(otherwise: str) -> str:
    """Return what stands for the failing expression in the words of a pitfall.

    Args:
        otherwise: what to say where it is not known, or long.
    """
    return f"{{expression|{otherwise}}}"


def find_pitfalls(
    pitfalls: Sequence[Pitfall],
    error: BaseException,
    message: str,
    source: str = "",
    after: str = "",
    expression: str = "",
) -> Iterator[Pitfall]:
    """Yield those that fit an error with this message, at this line and with that one after it.

    The expression is the one that failed; empty where it is not known.
    """
    kinds = {kind.__name__ for kind in type(error).__mro__}
    for pitfall in pitfalls:
        pairs = ((pitfall.text, message), (pitfall.source, source), (pitfall.after, after),
                 (pitfall.expression, expression))  # fmt: skip
        fits = all(re.search(pattern, text) for pattern, text in pairs)
        if fits and (not pitfall.errors or kinds.intersection(pitfall.errors)):
            yield pitfall


def describe(
    code: str,
    error: BaseException,
    message: str,
    line: int,
    source: str,
    pitfall: Pitfall | None,
    because: str = UNKNOWN,
    expression: str = "",
) -> Diagnosis:
    """Return a diagnosis without fixes.

    Args:
        code: the call.
        error: what was raised.
        message: what it says.
        line: number of the failing line.
        source: that line.
        pitfall: which kind of error it is; None if it is of none.
        because: what to say where it is of none.
        expression: that failed; empty where it is not known.
    """
    is_short = len(expression) <= _LONGEST_EXPRESSION and "\n" not in expression
    failed = expression if is_short and expression != source else ""
    return Diagnosis(
        code=code,
        error=type(error).__name__,
        message=message,
        line=line,
        source=source,
        because=_EXPRESSION.sub(lambda words: failed or words[1], pitfall.because)
        if pitfall
        else because,
        advice=pitfall.advice if pitfall else "",
    )
