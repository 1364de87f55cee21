"""Which notebook and cell a magic stands in, as far as the front end tells."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from IPython.core.interactiveshell import InteractiveShell

if TYPE_CHECKING:
    from ipyjaxbench.records import Location


def find_location(shell: InteractiveShell) -> Location:
    """Return where the code that runs now was typed.

    Jupyter's server tells a kernel the notebook's path in its environment, VS Code in a name, and
    JupyterLab the cell's identifier in what it sends; others tell neither.
    """
    from ipyjaxbench.records import Location

    try:
        directory = os.getcwd()
    except OSError:  # it was removed
        directory = ""
    named = shell.user_ns.get("__vsc_ipynb_file__")
    notebook = named if isinstance(named, str) else os.environ.get("JPY_SESSION_NAME", "")
    return Location(directory, notebook, _cell(shell))


def _cell(shell: InteractiveShell) -> str:
    request = shell.get_parent() if getattr(shell, "kernel", None) is not None else {}
    sent = request.get("metadata") if isinstance(request, Mapping) else None
    known = sent.get("cellId") if isinstance(sent, Mapping) else None
    return known if isinstance(known, str) else ""
