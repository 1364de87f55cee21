"""How anything is shown: as the shell does it, or as text where it cannot."""

import sys
from typing import Any

from IPython.display import display


def show(shown: object, **how: Any) -> None:
    """Display it; a shell that cannot gets its text.

    Args:
        shown: a result, or a dictionary of forms with ``raw=True``.
        how: for IPython's `display`.
    """
    if isinstance(shown, dict):
        from ipyjaxbench.reports import spelled

        shown = {**shown, "text/plain": spelled(shown["text/plain"])}
    try:
        display(shown, **how)
    # Whatever a shell without a display raises, what was measured is not lost.
    except Exception:  # noqa: BLE001
        text = shown["text/plain"] if isinstance(shown, dict) else str(shown)
        sys.stdout.write(f"{text}\n")
