"""The order of Git's commits, asked of ``git`` itself, which only reads."""

import os
import subprocess
from collections.abc import Collection

from ipyjaxbench.errors import RecordError

_SECONDS = 60  # that walking a large history may take
#: Where Git would wait for a password, or take a lock to refresh its index.
_ENVIRONMENT = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
_MAX_REASON = 200  # characters
_HEADER = "commit "


def order_commits(directory: str, wanted: Collection[str]) -> dict[str, str]:
    """Return those of the wanted commits that lead to the one that is checked out, oldest first.

    Args:
        directory: in a Git repository, which is read only.
        wanted: hashes.

    Returns:
        For each the first line of its message.

    Raises:
        RecordError: there is no Git, or no repository with a commit.

    Example:
        >>> # order_commits(".", {"0f98bc…"}).items()
    """
    command = ["git", "rev-list", "--topo-order", "--format=%s", "--encoding=UTF-8", "HEAD", "--"]
    try:
        done = subprocess.run(
            command,
            cwd=directory,
            env={**os.environ, **_ENVIRONMENT},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        raise RecordError("git was not found on PATH: it knows the order of commits") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = getattr(error, "strerror", None) or f"no answer within {_SECONDS} s"
        raise RecordError(f"git rev-list in {directory}: {reason}") from None
    if done.returncode:
        reason = next(iter(done.stderr.decode(errors="replace").splitlines()), "")
        raise RecordError(
            f"{directory} has no Git history: {reason.removeprefix('fatal: ')[:_MAX_REASON]}"
        )
    found: dict[str, str] = {}
    lines = done.stdout.decode(errors="replace").split("\n")
    for header, subject in zip(lines[::2], lines[1::2], strict=False):
        commit = header.removeprefix(_HEADER)
        if commit in wanted:
            found[commit] = subject
    return dict(reversed(found.items()))
