"""``api/live``: what kernels measure now."""

from typing import Any

from ipyjaxbench.records import LiveMeasurement

_TOLD = ("run", "notebook", "cell", "line", "phase", "began", "half_width", "left", "died")


def describe_live(measuring: tuple[LiveMeasurement, ...]) -> list[dict[str, Any]]:
    """Return the measurements that are being made, without what processes are."""
    return [{name: getattr(live, name) for name in _TOLD} for live in measuring]
