"""What an error says, in as few of its lines as say something."""

from textwrap import shorten

_MOST = 220  # characters
_LEAST = 30  # characters that say something


def text_of(error: BaseException) -> str:
    """All that an error says; empty where its class fails to."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001  the user's class of errors
        return ""


def said(error: BaseException) -> str:
    """The first line that an error says; one that is short, or leads on, with those after it."""
    found = ""
    for line in text_of(error).splitlines():
        if len(found) >= _LEAST and not found.endswith((":", ";")):
            break
        found = f"{found} {line.strip().removeprefix('* ')}".strip()
    return shorten(found, _MOST, placeholder=" …")
