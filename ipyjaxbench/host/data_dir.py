"""Where files that outlive a notebook are kept: below Jupyter's data directory.

They hold lines of code and paths, so that nobody but their owner may read them.
"""

import os
from contextlib import suppress
from pathlib import Path

#: Modes of the folders and of their files.
_FOLDER, FILE = 0o700, 0o600


def folder(name: str) -> Path | None:
    """Return the folder for one sort of file, made where it is missing.

    Args:
        name: "history" or "ceilings".

    Returns:
        Its path; None where it cannot be made, such as in a home that is read-only.
    """
    path = place(name)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    with suppress(OSError):  # of another owner, or of a disk without modes
        if path.stat().st_mode & 0o077:
            _close(path)
    return path


def _close(folder: Path) -> None:
    """Let the owner alone read a folder, the one around it, and files of earlier versions."""
    for each in (folder.parent, folder):
        os.chmod(each, _FOLDER)
    for entry in os.scandir(folder):
        if entry.is_file(follow_symlinks=False):
            os.chmod(entry.path, FILE)


def place(name: str) -> Path:
    """Return where the folder for one sort of file is, or would be; nothing is made."""
    from jupyter_core.paths import jupyter_data_dir

    return Path(jupyter_data_dir()) / "ipyjaxbench" / name
