"""Which revision of the code Git has in the working directory, read from its files."""

import os.path
from functools import lru_cache


def revision(directory: str) -> str:
    """Return the commit that is checked out.

    Args:
        directory: in it or above it Git keeps its files.

    Returns:
        Its hash in hexadecimal; empty where there is none, or it cannot be read.
    """
    try:
        place = _git(directory)
        if not place:
            return ""
        head = _read(place, "HEAD")
        name = head.removeprefix("ref: ")
        found = _commit(place, name) if name != head else head
        return found if len(found) in (40, 64) and int(found, 16) >= 0 else ""
    except (OSError, ValueError, RecursionError):
        return ""


@lru_cache(maxsize=16)
def _git(directory: str) -> str:
    """The folder that Git keeps, of this directory or of one above it; empty where none is."""
    found = os.path.join(directory, ".git")
    if os.path.isdir(found):
        return found
    if os.path.isfile(found):  # of a work tree, or of a submodule
        return os.path.join(directory, _read(found).removeprefix("gitdir: "))
    above = os.path.dirname(directory)
    return _git(above) if above != directory else ""


def _commit(place: str, name: str) -> str:
    """Return what a branch stands for; several work trees share one folder of branches."""
    try:
        return _read(place, name)
    except FileNotFoundError:
        pass
    shared = os.path.join(place, "commondir")
    if os.path.isfile(shared):
        return _commit(os.path.join(place, _read(shared)), name)
    lines = _read(place, "packed-refs").splitlines()
    return next((line.split()[0] for line in lines if line.endswith(f" {name}")), "")


def _read(*path: str) -> str:
    with open(os.path.join(*path), "rb", buffering=0) as file:
        return file.read().decode().strip()
