"""Where files that outlive a notebook are kept: below Jupyter's data directory.

They hold lines of code and paths, so only their owner may read them.
"""

import os
from contextlib import suppress
from pathlib import Path

#: Modes of the folders and of their files: only the owner reads them.
_FOLDER_MODE, _FILE_MODE = 0o700, 0o600


def make_data_folder(name: str) -> Path | None:
    """Return the folder of one kind of file, made where it is missing; None where that fails."""
    path = data_folder(name)
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
    for path in (folder.parent, folder):
        os.chmod(path, _FOLDER_MODE)
    for entry in os.scandir(folder):
        if entry.is_file(follow_symlinks=False):
            os.chmod(entry.path, _FILE_MODE)


def data_folder(name: str) -> Path:
    """Return where the folder of one kind of file is, or would be; nothing is made."""
    from jupyter_core.paths import jupyter_data_dir

    return Path(jupyter_data_dir()) / "ipyjaxbench" / name


def open_private(path: str, flags: int) -> int:
    """Open a file that its owner alone can read: the ``opener`` of Python's `open`."""
    return os.open(path, flags, _FILE_MODE)


def replace_file(path: Path, text: str) -> None:
    """Write a file that its owner alone can read: who reads it sees the old one or the new one.

    Raises:
        OSError: it could not be written; the old one is left.
    """
    scratch = path.with_suffix(f".{os.getpid()}.part")
    try:
        with open(scratch, "w", encoding="utf-8", opener=open_private) as file:
            file.write(text)
        os.replace(scratch, path)
    except OSError:
        with suppress(OSError):
            scratch.unlink()
        raise
