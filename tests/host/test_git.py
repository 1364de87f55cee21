"""The revision of the code is read from the files that Git keeps."""

import subprocess
from pathlib import Path

import pytest

from ipyjaxbench.host import git as module
from ipyjaxbench.host.git import revision


@pytest.fixture(autouse=True)
def forgotten() -> None:
    module._git_folder.cache_clear()


def git(directory: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    done = subprocess.run(command, cwd=directory, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_it_is_the_commit_that_is_checked_out(tmp_path: Path) -> None:
    place, other = tmp_path / "project", tmp_path / "other"
    (place / "inside").mkdir(parents=True)
    git(place, "init", "-q")
    git(place, "commit", "-q", "--allow-empty", "-m", "first")
    first = git(place, "rev-parse", "HEAD")
    assert revision(str(place)) == revision(str(place / "inside")) == first
    git(place, "commit", "-q", "--allow-empty", "-m", "second")
    second = git(place, "rev-parse", "HEAD")
    assert revision(str(place)) == second != first
    git(place, "pack-refs", "--all")
    assert revision(str(place)) == second
    git(place, "worktree", "add", "-q", str(other))  # which has its own
    git(other, "commit", "-q", "--allow-empty", "-m", "there")
    assert revision(str(other)) == git(other, "rev-parse", "HEAD") != second
    git(place, "checkout", "-q", "--detach")
    assert revision(str(place)) == second
    git(place, "checkout", "-q", "--orphan", "empty")
    assert revision(str(place)) == revision(str(tmp_path)) == ""
    (place / ".git" / "commondir").write_text(".")  # folders that name each other end
    assert revision(str(place)) == ""


SHA_1, SHA_256 = "c" * 40, "c" * 64


@pytest.mark.parametrize(
    ("head", "known"),
    [(f"{SHA_1}\n", SHA_1), (f"{SHA_256}\n", SHA_256),
     *((head, "") for head in ["", "ref: ", "ref: a\0b", "<script>", "ref: ../../x", "f" * 39,
                               "g" * 40, "-" + "f" * 39])],
)  # fmt: skip
def test_what_git_would_not_write_is_no_revision(tmp_path: Path, head: str, known: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text(head)
    assert revision(str(tmp_path)) == known
