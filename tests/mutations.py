"""Changes single lines of the package, and counts those that the nearest tests notice.

    python -m tests.mutations [--count N] [--seed N] [--files N] [FOLDER …]

Each change is made in a copy: a comparison turned, a number changed, a condition negated, a result
dropped. What no test notices is printed with its line; a person says whether it changes anything.
Files of tests that fail in the copy as it is notice nothing.
"""

import argparse
import ast
import copy
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import SimpleQueue

from tests.groups import group_of, plugins_of
from tests.nearest import ROOT, find_tests

_SECONDS = 300  # of the tests of one change, of which some make a loop endless
_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_SWAPPED = {ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add}


@dataclass(frozen=True)
class Change:
    """One line of a file as it was and as it is changed."""

    path: Path  # below the root
    line: int
    was: str
    now: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.was.strip()}  ->  {self.now.strip()}"


def changes_of(path: Path) -> Iterator[Change]:
    """Yield the changes of a file that fit into a line each."""
    lines = (ROOT / path).read_text("utf-8").split("\n")
    for node in ast.walk(ast.parse("\n".join(lines))):
        changed = _change(node)
        if changed is None or node.lineno != node.end_lineno:  # type: ignore[attr-defined]
            continue
        row, start, end = node.lineno, node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
        was = lines[row - 1]
        if was.isascii():  # offsets are bytes
            yield Change(path, row, was, was[:start] + ast.unparse(changed) + was[end:])


def _change(node: ast.AST) -> ast.AST | None:
    """Return what stands in a node's place; None where there is nothing to change."""
    changed = copy.copy(node)
    match changed:
        case ast.Compare(ops=[op]):
            changed.ops = [_TURNED[type(op)]()]
        case ast.Constant(value=bool(value)):
            changed.value = not value
        case ast.Constant(value=int(value) | float(value)):
            changed.value = value + 1
        case ast.Return(value=ast.Constant(value=None)):
            return None  # it returns the same without it
        case ast.Return(value=ast.expr()):
            changed.value = None
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
        case ast.BoolOp(op=op) | ast.BinOp(op=op) if type(op) in _SWAPPED:
            changed.op = _SWAPPED[type(op)]()
        case _:
            return None
    return changed


def is_noticed(change: Change, copied: Path, most: int) -> bool:
    """Whether a test fails, of the nearest files, with a change made in a copy of the tree."""
    near = [path for path in find_tests([str(change.path)]) if group_of(path)][:most]
    sound = [path for path in near if not fails_unchanged(copied, path)]
    file = copied / change.path
    before = file.read_text("utf-8")
    lines = before.split("\n")
    lines[change.line - 1] = change.now
    file.write_text("\n".join(lines), "utf-8")
    try:
        return any(_fails(copied, path) for path in sound)
    finally:
        file.write_text(before, "utf-8")


@cache
def fails_unchanged(copied: Path, test: Path) -> bool:
    """Whether a file of tests fails in a copy in which nothing is changed; said once."""
    failed = _fails(copied, test)
    if failed:
        print(f"fails unchanged, left out: {test.relative_to(ROOT)}", flush=True)
    return failed


def _fails(copied: Path, test: Path) -> bool:
    options = ["-x", "-q", "-pno:randomly", "-pno:cacheprovider", *plugins_of(group_of(test))]
    command = [sys.executable, "-m", "pytest", *options, str(test.relative_to(ROOT))]
    try:
        done = subprocess.run(
            command, cwd=copied, capture_output=True, check=False, timeout=_SECONDS,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(copied), "HOME": str(copied)},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return True
    return done.returncode not in (0, 5)


def main() -> None:
    """Make a sample of changes, two at a time; print each that is not noticed, and the share."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--files", type=int, default=12, help="of tests, at most, for each")
    parser.add_argument("folders", type=Path, nargs="*", default=[Path("ipyjaxbench")])
    chosen = parser.parse_args()
    files = (path for folder in chosen.folders for path in (ROOT / folder).rglob("*.py"))
    package = sorted(path.relative_to(ROOT) for path in files)
    every = [change for path in package for change in changes_of(path)]
    sample = random.Random(chosen.seed).sample(every, chosen.count)
    copies: SimpleQueue[Path] = SimpleQueue()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        for number in range(2):
            copied = Path(folder, str(number))
            for part in ("ipyjaxbench", "tests", "examples", "pyproject.toml", "README.md"):
                source = ROOT / part
                (shutil.copytree if source.is_dir() else shutil.copy)(source, copied / part)
            copies.put(copied)

        def judge(change: Change) -> bool:
            copied = copies.get()
            try:
                noticed = is_noticed(change, copied, chosen.files)
            finally:
                copies.put(copied)
            if not noticed:
                print(f"not noticed: {change}", flush=True)
            return noticed

        noticed = sum(pool.map(judge, sample))
    possible = f"{len(every):,} are possible, seed {chosen.seed}"
    print(f"{noticed} of {chosen.count} changes noticed ({possible})")


if __name__ == "__main__":
    main()
