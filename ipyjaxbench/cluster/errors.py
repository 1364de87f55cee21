"""What goes wrong among ranks."""

from collections.abc import Sequence
from typing import Any

from ipyjaxbench.errors import IpyJaxBenchError


class RankError(IpyJaxBenchError):
    """A rank did not come, ran other code, or failed; the message names it.

    Attributes:
        answers: what each engine returned all the same, plain data, in order; empty if unknown.
    """

    answers: Sequence[Any] = ()
