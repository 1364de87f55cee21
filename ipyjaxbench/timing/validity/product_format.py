"""The format in which products of float32 are computed, as Notes tell it."""

from collections.abc import Iterable

from ipyjaxbench.reports import Note

#: Codes of the Notes on formats of fewer bits: what the user set, and what a framework does anyway.
_CODES = ("reduced-precision", "default-precision")


def product_format(notes: Iterable[Note]) -> str:
    """Return what a Note on reduced precision begins with; empty where there is none.

    >>> product_format([Note("default-precision", "TF32: float32 matrix products ...")])
    'TF32'
    """
    return next((note.text.partition(":")[0] for note in notes if note.code in _CODES), "")
