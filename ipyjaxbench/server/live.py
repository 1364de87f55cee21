"""``api/live``: what kernels measure now."""

from typing import Any


class LiveWatch:
    """Reads what kernels write while they measure."""

    def measuring(self) -> tuple[object, ...]:
        return ()

    def describe(self) -> list[dict[str, Any]]:
        return []
