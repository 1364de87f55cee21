"""Finds what two runs of a test suite have both measured."""

from collections.abc import Callable
from os import PathLike, fspath

from ipyjaxbench.errors import RecordError, short_errors
from ipyjaxbench.ipynb import decode_notebook, read_file
from ipyjaxbench.records.benchmark_file import decode_benchmarks
from ipyjaxbench.records.benchmarks import Benchmarks
from ipyjaxbench.records.diff_notebooks import compare_notebooks
from ipyjaxbench.records.entry import HistoryEntry
from ipyjaxbench.records.notebook_diff import Pair, Rerun
from ipyjaxbench.records.notebooks import read_records
from ipyjaxbench.reports import MIME


@short_errors
def compare_files(before: str | PathLike[str], after: str | PathLike[str]) -> Rerun:
    """Compare two runs of the same notebook, or of the same test suite.

    Args:
        before: the first run: a notebook, or a file of ``pytest --fwbench-json``.
        after: the second run, of the same kind.

    Returns:
        The pairs with their ratios, what changed around them, and what has no partner.

    Raises:
        RecordError: one of them cannot be read, or they have no measurement in common.
    """
    names = fspath(before), fspath(after)
    data = [read_file(name) for name in names]
    first, second = (decode_benchmarks(n, d) for n, d in zip(names, data, strict=True))
    if first is not None and second is not None:
        return compare_benchmarks(names, first, second)
    if first is None and second is None:
        both = zip(names, data, strict=True)
        return compare_notebooks(*(read_records(n, decode_notebook(n, d, MIME)) for n, d in both))
    one, other = names if second is None else reversed(names)
    raise RecordError(
        f"{one} holds benchmarks of pytest and {other} does not: give two notebooks, or two files"
        " of --fwbench-json"
    )


def compare_benchmarks(names: tuple[str, str], before: Benchmarks, after: Benchmarks) -> Rerun:
    """Compare two runs of the same test suite, by the names of the benchmarks.

    Args:
        names: of the two files.
        before: the first run.
        after: the second run.

    Raises:
        RecordError: they have no benchmark in common.
    """
    first, second = ({e.name: e for e in run.entries} for run in (before, after))
    shared = [(first[name], entry) for name, entry in second.items() if name in first]
    for path, run in zip(names, (first, second), strict=True):
        if not run:
            raise RecordError(f"{path} holds no benchmarks: no test of that run called fwbench")
    if not shared:
        raise RecordError(f"{names[0]} and {names[1]} have no benchmark in common: no name matches")
    differs = (d for one, other in shared for d in one.environment.differences(other.environment))
    return Rerun(
        before=names[0],
        after=names[1],
        pairs=tuple(Pair(other.name, 0, one.figure, other.figure) for one, other in shared),
        differs=tuple(dict.fromkeys(differs)),
        only_before=_left(first, second.__contains__),
        only_after=_left(second, first.__contains__),
    )


def _left(run: dict[str, HistoryEntry], elsewhere: Callable[[str], bool]) -> tuple[str, ...]:
    return tuple(name for name in run if not elsewhere(name))
