"""Says which lines of the accelerator paths no test reaches, on a machine without accelerators.

    python -m tests.accelerator_coverage [--folder DIR] [--only WORDS]

A folder, file, class or function of ``adapters`` or ``host`` is a path if its name has one of
`WORDS`, which only accelerators have, and a function also if its code has one. What runs: the
stand-ins of `tests.matrix`, the recordings, and all other tests that import such a file or have its
name. Tests that look for tracers fail here.
"""

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import redirect_stdout
from io import StringIO
from itertools import groupby
from pathlib import Path

from tests.groups import group_of, plugins_of
from tests.matrix import ENVIRONMENTS, HERE, ROOT, Environment, make, run

PACKAGE, TESTS = ROOT / "ipyjaxbench", ROOT / "tests"
WORDS = {
    *("accelerator", "accelerators", "allocator", "chip", "chips", "cuda", "cupti", "gpu", "gpus"),
    *("hip", "mig", "mps", "nvml", "rocm", "stream", "tpu", "tpus", "xpu"),
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
Paths = Mapping[Path, set[int]]  # lines by file


def main() -> None:
    """Run the tests, and print each file with the lines that were not executed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    kept = Path(tempfile.gettempdir()) / "ipyjaxbench-matrix"
    parser.add_argument("--folder", type=Path, default=kept, help=f"of environments (now {kept})")
    parser.add_argument("--only", default="", help="words of names of what runs, as in JAX,here")
    chosen = parser.parse_args()
    folder, words = chosen.folder.resolve(), chosen.only.split(",")
    paths = accelerator_paths(PACKAGE / "adapters") | accelerator_paths(PACKAGE / "host")
    stand_ins = [each for each in ENVIRONMENTS if each.is_stand_in]
    with tempfile.TemporaryDirectory() as own:
        settings = Path(own) / "settings"
        settings.write_text(_SETTINGS.format(folder=own, package=PACKAGE))
        os.environ["COVERAGE_PROCESS_START"] = str(settings)
        for each in (*stand_ins, *here(paths)):
            if any(word in each.name for word in words):
                print(counts(each, folder), flush=True)
        found = executed(settings, tracer(HERE, folder))
    print(*report(found, paths), sep="\n")


def accelerator_paths(folder: Path) -> dict[Path, set[int]]:
    """The lines below a folder that are about accelerators, by file."""
    found = {path: set(_lines(path, folder)) for path in sorted(folder.rglob("*.py"))}
    return {path: lines for path, lines in found.items() if lines}


def _lines(path: Path, folder: Path) -> Iterator[int]:
    text = path.read_text("utf-8")
    if _is_about(str(path.relative_to(folder))):
        yield from range(1, text.count("\n") + 2)
        return
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = None  # docstrings say what others do
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef():
                text = node.name
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                text = " ".join(_names(node))
            case _:
                continue
        if _is_about(text):
            yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _is_about(text: str) -> bool:
    return not WORDS.isdisjoint(word.lower() for word in _WORD.findall(text))


def _names(function: ast.AST) -> Iterator[str]:
    """All names and texts in a function's code."""
    for node in ast.walk(function):
        for _, value in ast.iter_fields(node):
            if isinstance(value, str):
                yield value


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
    text = path.read_text("utf-8")
    if "from ipyjaxbench" not in text:  # most need not be read
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            yield from (node.module or "", *(f"{node.module}.{a.name}" for a in node.names))


def counts(environment: Environment, folder: Path) -> str:
    """Run an environment's tests, each process of which notes its lines; return how it went."""
    also = tracer(environment.python, folder)
    home = make(environment, folder) if environment.packages else also
    with redirect_stdout(StringIO()) as told:
        run(environment, home, ["--once"], also)
    title = f": {environment.name}, Python "
    return next(line for line in reversed(told.getvalue().splitlines()) if title in line)


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


def report(found: Mapping[str, Mapping[str, list[int]]], paths: Paths) -> Iterator[str]:
    """A line for each file of which some lines were not executed, and the share of all."""
    ran = count = 0
    for path, wanted in paths.items():
        name = str(path.relative_to(ROOT))
        if name not in found:
            yield f"{name}: not imported"
            continue
        missing = [n for n in found[name]["missing_lines"] if n in wanted]
        own = len(wanted.intersection(found[name]["executed_lines"]))
        ran, count = ran + own, count + own + len(missing)
        if missing:
            yield f"{name}: {', '.join(ranges(missing))}"
    yield f"{ran / max(count, 1):.1%} of {count} lines in {len(paths)} files were executed"


def ranges(numbers: Iterable[int]) -> Iterator[str]:
    """Numbers in order, those in a row as one, such as "1-3"."""
    for _, row in groupby(enumerate(numbers), lambda each: each[1] - each[0]):
        first, *rest = (number for _, number in row)
        yield f"{first}-{rest[-1]}" if rest else str(first)


if __name__ == "__main__":
    main()
