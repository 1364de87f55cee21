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


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    git(place, "init", "-q")
    git(place, "commit", "-q", "--allow-empty", "-m", "first")
    return place


def test_it_is_the_commit_that_is_checked_out(repository: Path) -> None:
    (repository / "inside").mkdir()
    first = git(repository, "rev-parse", "HEAD")
    assert revision(str(repository)) == revision(str(repository / "inside")) == first
    git(repository, "commit", "-q", "--allow-empty", "-m", "second")
    assert revision(str(repository)) == git(repository, "rev-parse", "HEAD") != first


def test_it_is_found_where_branches_are_packed_or_none_is_checked_out(repository: Path) -> None:
    head = git(repository, "rev-parse", "HEAD")
    git(repository, "pack-refs", "--all")
    assert revision(str(repository)) == head
    git(repository, "checkout", "-q", "--detach")
    assert revision(str(repository)) == head


def test_a_work_tree_has_its_own(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "other"))
    git(tmp_path / "other", "commit", "-q", "--allow-empty", "-m", "there")
    there = git(tmp_path / "other", "rev-parse", "HEAD")
    assert revision(str(tmp_path / "other")) == there != revision(str(repository))


def test_where_there_is_none_it_is_empty(tmp_path: Path, repository: Path) -> None:
    assert revision(str(tmp_path)) == ""
    git(repository, "checkout", "-q", "--orphan", "empty")
    assert revision(str(repository)) == ""
    (repository / ".git" / "commondir").write_text(".")  # folders that name each other end
    assert revision(str(repository)) == ""


@pytest.mark.parametrize(
    "head",
    ["", "ref: ", "ref: a\0b", "<script>", "ref: ../../x", "f" * 39, "g" * 40, "-" + "f" * 39],
)
def test_what_git_would_not_write_is_no_revision(repository: Path, head: str) -> None:
    (repository / ".git" / "HEAD").write_text(head)
    assert revision(str(repository)) == ""


@pytest.mark.parametrize("length", [40, 64])
def test_a_hash_is_one_of_sha_1_or_of_sha_256(repository: Path, length: int) -> None:
    (repository / ".git" / "HEAD").write_text("c" * length + "\n")
    assert revision(str(repository)) == "c" * length
