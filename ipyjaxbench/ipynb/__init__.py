"""Saved notebooks: what of their cells is needed. What they hold is read, never run, nor trusted.

Called by `records` for two notebooks in one session, and by `server`, which answers others
meanwhile: there a process of its own decodes a large notebook. This room knows nothing of results,
and imports little, so that such a process starts at once.
"""

from ipyjaxbench.ipynb.decode import (
    DamagedCell,
    Limits,
    NotebookCell,
    NotebookFile,
    TooLargeError,
    decode_notebook,
    decode_record,
    read_file,
)
from ipyjaxbench.ipynb.process import decode_apart

__all__ = ["DamagedCell", "Limits", "NotebookCell", "NotebookFile", "TooLargeError", "decode_apart",
           "decode_notebook", "decode_record", "read_file"]  # fmt: skip
