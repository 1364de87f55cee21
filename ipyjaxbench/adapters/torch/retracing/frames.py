"""Frames that dynamo compiled, as its record has them."""

from collections.abc import Iterator, Sequence
from typing import Any

from ipyjaxbench.adapters.torch.compile_events import resumed, spell
from ipyjaxbench.frameworks import UNNAMED


def attribute(entry: Any, name: str) -> Any:
    """Return what an entry of the record says; None where this version does not say it."""
    return getattr(entry, name, None)


def name_of(entry: Any) -> str:
    """Return what the user calls the function."""
    return spell(str(attribute(entry, "co_name") or UNNAMED))


def nested(root: str, frames: Sequence[Any]) -> Iterator[tuple[int, str]]:
    """Yield frames that were compiled apart; the rest of a function stands under that function."""
    depths = {root: 0}
    for entry in frames:
        rest = resumed(str(entry.co_name))
        depth = depths.get(rest[0], 0) + 1 if rest else 1
        depths.setdefault(str(entry.co_name), depth)
        yield depth, name_of(entry)
