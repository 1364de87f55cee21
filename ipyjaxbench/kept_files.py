"""Where files that outlive a notebook are kept: below Jupyter's data directory."""

from pathlib import Path


def folder(name: str) -> Path | None:
    """The folder for one sort of file, made where it is missing.

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
    return path


def place(name: str) -> Path:
    """Where the folder for one sort of file is, or would be; nothing is made."""
    from jupyter_core.paths import jupyter_data_dir

    return Path(jupyter_data_dir()) / "ipyjaxbench" / name
