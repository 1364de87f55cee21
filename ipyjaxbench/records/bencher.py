"""Measurements in the format of Bencher: https://bencher.dev/docs/reference/bencher-metric-format."""

from collections.abc import Iterable

from ipyjaxbench.records.benchmarks import has_no_figure
from ipyjaxbench.records.entry import EntryHead

_MAX_NAME = 1024  # characters that Bencher takes
_NANO = 1e9  # its unit of ``latency``


def to_bencher(entries: Iterable[EntryHead]) -> str:
    """Return the newest measurement of each name as JSON: its latency in nanoseconds.

    The value is the median per call; the lower and the upper value are the ends of the interval in
    which another run is expected, and are left out where that is not known. A measurement without
    a figure, such as an INVALID one, is left out: a wrong number would be taken for a right one.

    Args:
        entries: newest first.
    """
    import msgspec

    found: dict[str, dict[str, dict[str, float]]] = {}
    for entry in entries:
        name = entry.name[:_MAX_NAME]
        if name in found or has_no_figure(entry):
            continue
        latency = {"value": entry.median * _NANO}
        rerun = entry.figure.estimate
        if rerun.low is not None and rerun.high is not None:
            latency |= {"lower_value": rerun.low * _NANO, "upper_value": rerun.high * _NANO}
        found[name] = {"latency": latency}
    return f"{msgspec.json.format(msgspec.json.encode(found)).decode()}\n"
