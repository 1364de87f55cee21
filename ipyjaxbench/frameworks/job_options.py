"""Options of magics that work in many processes."""

from dataclasses import dataclass

from ipyjaxbench.option import option
from ipyjaxbench.validation import seconds, words


@dataclass(frozen=True, kw_only=True)
class JobOptions:
    """In which processes code runs."""

    engines: str | None = option(
        None,
        "--engines all",
        words,
        "run on engines of ipyparallel or Dask: all, 0:4, 0,2, or the name of a client or view",
    )
    timeout: float = option(
        30.0, "--timeout", seconds, "seconds to wait for other ranks of a job; 0: this rank alone"
    )
