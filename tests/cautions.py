"""Times code and gives the Notes about settings and surroundings, not those of a busy machine."""

from typing import Any

import ipyjaxbench
from ipyjaxbench.reports.note import Note

_CODES = ("narrowed", "reduced-precision", "default-precision", "setting-on", "watched",
          "processes", "recorded", "shapes-only")  # fmt: skip


def cautions(code: str, names: dict[str, Any]) -> list[Note]:
    """The Notes of code that is run four times."""
    result = ipyjaxbench.measure_code(code, dict(names), number=2, repeat=2)
    return [note for note in result.notes if note.code in _CODES]
