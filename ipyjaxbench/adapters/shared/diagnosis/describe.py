"""What an error itself shows: its pitfall, and the diagnosis before anything is tried."""

import re
from collections.abc import Iterator, Sequence

from ipyjaxbench.graphs import Diagnosis, Pitfall

MAX_FIXES = 3
UNKNOWN = "the code raises while it is traced"


def find_pitfalls(
    pitfalls: Sequence[Pitfall], error: Exception, message: str, source: str = "", after: str = ""
) -> Iterator[Pitfall]:
    """Yield those that fit an error with this message, at this line and with that one after it."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    for pitfall in pitfalls:
        pairs = ((pitfall.text, message), (pitfall.source, source), (pitfall.after, after))
        fits = all(re.search(pattern, text) for pattern, text in pairs)
        if fits and (not pitfall.errors or kinds.intersection(pitfall.errors)):
            yield pitfall


def describe(
    code: str,
    error: Exception,
    message: str,
    line: int,
    source: str,
    pitfall: Pitfall | None,
    because: str = UNKNOWN,
) -> Diagnosis:
    """Return a diagnosis without fixes; `because` is said where there is no pitfall."""
    return Diagnosis(
        code=code,
        error=type(error).__name__,
        message=message,
        line=line,
        source=source,
        because=pitfall.because if pitfall else because,
        advice=pitfall.advice if pitfall else "",
    )
