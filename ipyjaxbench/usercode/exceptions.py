"""Errors that the user's code raises in calls whose failure is no failure of the measurement."""

from textwrap import shorten

from ipyjaxbench.usercode import objects


def one_line(error: BaseException) -> str:
    """An error of the user's code by its class and the first line that it shows."""
    try:
        first, *_ = str(error).splitlines() or [""]
    except Exception:  # noqa: BLE001  the user's class of errors may fail to show itself
        first = ""
    shown = f"{objects.name_of(type(error))}: {first}".rstrip(".: ")
    return shorten(shown, 140, placeholder=" …")
