"""How each verdict looks: an icon, a colour and a style in a terminal; its word says the rest."""

from typing import NamedTuple


class Badge(NamedTuple):
    """The looks of a word."""

    icon: str
    colour: str  # a mid-tone, on light and dark
    style: str  # in a terminal


_GOOD = Badge("✓", "#2f9e55", "bold green")
_FAIR = Badge("✓", "#3b82c4", "bold blue")
_CARE = Badge("▲", "#b5760f", "bold yellow")
_BAD = Badge("✗", "#d0453b", "bold red")
_AGAIN = Badge("↻", "#d0453b", "bold red")
_OPEN = Badge("○", "#888888", "bold")
_UNKNOWN = Badge("?", "#888888", "bold")

#: By the word of a headline.
BADGES = {
    "QUIET": _GOOD,
    "OK": _FAIR,
    "NOISY": _CARE,
    "FEW": _CARE,
    "ONCE": _OPEN,
    "INVALID": _BAD,
    "FAILED": _BAD,
    "RAISED": _BAD,
    "RECOMPILES": _AGAIN,
    "FASTER": _GOOD,
    "SLOWER": _BAD,
    "SAME": Badge("=", "#3b82c4", "bold blue"),
    "CAN'T TELL": _UNKNOWN,
    "FASTEST": _GOOD,
    "CHANGES": Badge("⇄", "#3b82c4", "bold blue"),
    "TRACED": Badge("↻", "#b5760f", "bold yellow"),
    "COMPILED": Badge("↻", "#b5760f", "bold yellow"),
    "COMPILES": Badge("↻", "#b5760f", "bold yellow"),
    "TRACES": Badge("↻", "#b5760f", "bold yellow"),
    "CACHED": _GOOD,
    "STALE": _BAD,
    "EAGER-FALLBACK": _BAD,
    "BYPASSED": _CARE,
    "IMPLICIT": _CARE,
    "DATA-BOUND": _CARE,
    "HOST-BOUND": _CARE,
    "SYNC-BOUND": _CARE,
    "DEVICE-BOUND": _FAIR,
    "CALL-BOUND": _FAIR,
    "BALANCED": Badge("=", "#3b82c4", "bold blue"),
    "INTERRUPTED": _OPEN,
    "?": _UNKNOWN,
}


def badge(word: str) -> Badge:
    """Return the looks of a verdict; a word that is not known is grey."""
    return BADGES.get(word, _OPEN)
