"""Which revision of the code Git has in the working directory, read from its files."""

import os.path
from functools import lru_cache


def revision(directory: str) -> str:
    """Return the hash of the commit that is checked out; empty where it cannot be read."""
    try:
        place = _git_folder(directory)
        if not place:
            return ""
        head = _read(place, "HEAD")
        name = head.removeprefix("ref: ")
        commit = _read_commit(place, name) if name != head else head
        return commit if len(commit) in (40, 64) and int(commit, 16) >= 0 else ""
    except (OSError, ValueError, RecursionError):
        return ""


@lru_cache(maxsize=16)
def _git_folder(directory: str) -> str:
    """Return Git's folder, of this directory or of one above it; empty where there is none."""
    path = os.path.join(directory, ".git")
    if os.path.isdir(path):
        return path
    if os.path.isfile(path):  # of a work tree, or of a submodule
        return os.path.join(directory, _read(path).removeprefix("gitdir: "))
    above = os.path.dirname(directory)
    return _git_folder(above) if above != directory else ""


def _read_commit(place: str, name: str) -> str:
    """Return what a branch stands for; several work trees share one folder of branches."""
    try:
        return _read(place, name)
    except FileNotFoundError:
        pass
    shared = os.path.join(place, "commondir")
    if os.path.isfile(shared):
        return _read_commit(os.path.join(place, _read(shared)), name)
    lines = _read(place, "packed-refs").splitlines()
    return next((line.split()[0] for line in lines if line.endswith(f" {name}")), "")


def _read(*path: str) -> str:
    with open(os.path.join(*path), "rb", buffering=0) as file:
        return file.read().decode().strip()
