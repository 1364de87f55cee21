"""What is kept of a trace, by which later calls are judged."""

from typing import NamedTuple

from ipyjaxbench.retracing.cache_key import Change, Signature
from ipyjaxbench.retracing.traced_code import TracedCode
from ipyjaxbench.usercode import Reads


class Trace(NamedTuple):
    """One trace of a function, and what it read then of the names around it.

    Attributes:
        answers: whether the program of now is another one, by what the names stood for when asked.
        needed: of what changed by then what made it another one, likewise.
    """

    name: str
    signature: Signature
    code: TracedCode
    reads: Reads
    answers: dict[int, bool | None]
    needed: dict[int, tuple[Change, ...]]


class Unseen(NamedTuple):
    """A program whose trace was not seen, when it was held against today's.

    Attributes:
        contents: what was read then.
        code: that of the call; it knows whether the program is kept still.
        answer: whether it was another program; None where that was not known.
    """

    signature: Signature
    contents: int
    code: TracedCode
    answer: bool | None
