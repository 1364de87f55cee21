"""Where files that outlive a notebook are kept: below Jupyter's data directory."""

from pathlib import Path


def folder(name: str) -> Path | None:
    """The folder for one sort of file, made where it is missing.

    Args:
        name: "history" or "ceilings".

    Returns:
        Its path; None where it cannot be made, such as in a home that is read-only.
    """
    from jupyter_core.paths import jupyter_data_dir

    path = Path(jupyter_data_dir()) / "ipyjaxbench" / name
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return path
