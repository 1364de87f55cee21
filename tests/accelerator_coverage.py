"""Says which lines of the accelerator paths no test reaches, on a machine without accelerators.

    python -m tests.accelerator_coverage [--folder DIR] [--only WORDS]

An accelerator path is a file of ``adapters`` or ``host`` whose code names what only accelerators
have (`WORDS`). What runs: the stand-ins of `tests.matrix`, the recordings, and all other tests that
import such a file or have its name. Lines count, whatever machine they were written for.
"""

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from tests.groups import group_of, plugins_of
from tests.matrix import ENVIRONMENTS, HERE, ROOT, Environment, make, run

PACKAGE, TESTS = ROOT / "ipyjaxbench", ROOT / "tests"
#: Parts of names and of texts that a file on accelerators has in its code.
WORDS = {
    *("accelerator", "accelerators", "allocator", "cuda", "cupti", "gpu", "gpus", "hip", "mig"),
    *("mps", "nvml", "rocm", "stream", "tpu", "tpus", "xpu"),
}
_WORD = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_COVERAGE = "coverage==7.17.5"
_SETTINGS = """\
[run]
parallel = true
sigterm = true
data_file = {folder}/lines
include =
    {package}/adapters/*
    {package}/host/*
"""


def main() -> None:
    """Run the tests, and print each file with the lines that were not executed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    kept = Path(tempfile.gettempdir()) / "ipyjaxbench-matrix"
    parser.add_argument("--folder", type=Path, default=kept, help=f"of environments (now {kept})")
    parser.add_argument("--only", default="", help="words of names of what runs, as in JAX,here")
    chosen = parser.parse_args()
    paths = [path for room in ("adapters", "host") for path in accelerator_paths(PACKAGE / room)]
    words = chosen.only.split(",")
    stand_ins = [each for each in ENVIRONMENTS if each.is_stand_in]
    with tempfile.TemporaryDirectory() as own:
        settings = Path(own) / "settings"
        settings.write_text(_SETTINGS.format(folder=own, package=PACKAGE))
        os.environ["COVERAGE_PROCESS_START"] = str(settings)
        for each in (*stand_ins, *here(paths)):
            if any(word in each.name for word in words):
                also = tracer(each.python, chosen.folder)
                home = make(each, chosen.folder) if each.packages else also
                run(each, home, ["--once"], also)
        found = executed(settings, tracer(HERE, chosen.folder))
    print(*report(found, paths), sep="\n")


def accelerator_paths(folder: Path) -> list[Path]:
    """The files below a folder whose code names an accelerator's part; comments do not count."""
    return [path for path in sorted(folder.rglob("*.py")) if WORDS & set(named(path))]


def named(path: Path) -> Iterator[str]:
    """The words of all names and texts in the code of a file, but those of docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = None  # a docstring
    for node in ast.walk(tree):
        for _, value in ast.iter_fields(node):
            if isinstance(value, str):
                yield from (word.lower() for word in _WORD.findall(value))


def here(paths: Iterable[Path]) -> Iterator[Environment]:
    """This Python with its packages: recordings and tests of the files, by their process."""
    modules, mirrors = set[str](), set[Path]()
    for path in paths:
        _, *parts, name = path.relative_to(ROOT).with_suffix("").parts
        modules.add(".".join(("ipyjaxbench", *parts, name)))
        mirrors.add(TESTS.joinpath(*parts[:2], f"test_{name}.py"))
    tests = [
        path for path in sorted(TESTS.rglob("test_*.py"))
        if group_of(path)
        and ("recordings" in path.parts or path in mirrors or modules & set(imported(path)))
    ]  # fmt: skip
    for group, files in groupby(sorted(tests, key=group_of), group_of):
        arguments = (*plugins_of(group), *map(str, files))
        yield Environment(f"here, {group}", HERE, (), arguments, ("coverage",), is_beside=True)


def imported(path: Path) -> Iterator[str]:
    """The modules that a file of tests may import by one of its statements."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield from (node.module or "", *(f"{node.module}.{a.name}" for a in node.names))


def tracer(python: str, folder: Path) -> Path:
    """A folder with which each process of a Python notes the lines that it executes."""
    exactly = ("--only-binary=:all:", f"--python-version={python}")
    found = make(Environment("coverage", HERE, (_COVERAGE, *exactly), is_beside=True), folder)
    assert found is not None
    (found / "sitecustomize.py").write_text("import coverage\ncoverage.process_startup()\n")
    return found


def executed(settings: Path, tracer: Path) -> dict[str, dict[str, list[int]]]:
    """What all processes executed and did not, by file."""
    told = settings.with_name("told")
    plain = {n: v for n, v in os.environ.items() if n != "COVERAGE_PROCESS_START"}
    for command in (["combine", "-q"], ["json", "-q", "-o", str(told)]):
        subprocess.run(
            [sys.executable, "-m", "coverage", command[0], f"--rcfile={settings}", *command[1:]],
            env={**plain, "PYTHONPATH": str(tracer)}, cwd=ROOT, check=True,
        )  # fmt: skip
    return json.loads(told.read_text())["files"]


def report(found: dict[str, dict[str, list[int]]], paths: list[Path]) -> Iterator[str]:
    """A line for each file of which some lines were not executed, and the share of all."""
    ran = count = 0
    for path in paths:
        name = str(path.relative_to(ROOT))
        lines = found.get(name)
        if lines is None:
            yield f"{name}: not imported"
            continue
        missing = lines["missing_lines"]
        ran += len(lines["executed_lines"])
        count += len(lines["executed_lines"]) + len(missing)
        if missing:
            yield f"{name.removeprefix('ipyjaxbench/')}: {', '.join(ranges(missing))}"
    yield f"{ran / max(count, 1):.1%} of {count} lines in {len(paths)} files were executed"


def ranges(numbers: Iterable[int]) -> Iterator[str]:
    """Numbers in order, those in a row as one, such as "1-3"."""
    for _, row in groupby(enumerate(numbers), lambda each: each[1] - each[0]):
        first, *rest = (number for _, number in row)
        yield f"{first}-{rest[-1]}" if rest else str(first)


if __name__ == "__main__":
    main()
