"""Runs the sections, each framework in a process of its own, and prints what it finds."""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from tests.accuracy import markdown, text
from tests.accuracy.cases import GROUPS
from tests.accuracy.section import Row, Section, joined, sentences
from tests.accuracy.sections import SECTIONS

_MODULES = {"python": "sys"}  # what must be installed for a group, where it has another name


def _missing() -> list[str]:
    return [g for g in GROUPS if importlib.util.find_spec(_MODULES.get(g, g)) is None]


def _rows(section: Section, group: str, rounds: int, scratch: str) -> Iterator[Row]:
    """Rows of one group, as its process finds them."""
    command = [sys.executable, "-m", "tests.accuracy.child", section.name, group, str(rounds)]
    environment = {
        **os.environ,
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "IPYTHONDIR": scratch,  # the user's history stays as it is
        "JUPYTER_DATA_DIR": scratch,  # so does what was measured
        "TORCHINDUCTOR_CACHE_DIR": scratch,  # a first call is to compile
    }
    with tempfile.TemporaryFile("w+") as complaints:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=complaints, text=True,
                              env=environment) as process:  # fmt: skip
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("{"):
                    yield json.loads(line)
        if process.returncode:
            complaints.seek(0)
            told = complaints.read().strip().splitlines()[-1:] or [f"status {process.returncode}"]
            yield {"group": group, "name": section.name, "left_out": told[0][:100]}


def _run(
    section: Section, groups: list[str], rounds: int, known: list[Row], scratch: str
) -> list[Row]:
    print(text.heading(section), flush=True)
    found: list[Row] = []
    if section.measure is None:
        found = list(known)
        for row in found:
            print(text.line(section, row))
    for group in (g for g in section.groups if g in groups):
        for row in _rows(section, group, rounds, scratch):
            found.append(joined(row, known) if section.needs else row)
            print(text.line(section, found[-1]), flush=True)
    for sentence in sentences(section, found):
        print(f"  {sentence}")
    return found


def _with_needed(names: list[str]) -> list[str]:
    """The sections that were asked for and those that they need, in order."""
    wanted = set(names)
    for name in reversed(SECTIONS):
        if name in wanted and SECTIONS[name].needs:
            wanted.add(SECTIONS[name].needs)
    return [name for name in SECTIONS if name in wanted]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.accuracy", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--group", nargs="+", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--rounds", type=int, default=3, help="how often all is repeated (3)")
    parser.add_argument("--write", action="store_true", help="write examples/accuracy.md")
    return parser.parse_args()


def main() -> None:
    """Print the tables."""
    options = _options()
    start = time.monotonic()
    missing = [group for group in _missing() if group in options.group]
    for group in missing:
        print(f"{group}: not installed here, left out")
    groups = [group for group in options.group if group not in missing]
    found: dict[str, list[Row]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name in _with_needed(options.only):
            section = SECTIONS[name]
            found[name] = _run(
                section, groups, options.rounds, found.get(section.needs, []), scratch
            )
    print(f"\ntaken: {(time.monotonic() - start) / 60:.1f} minutes")
    if options.write:
        markdown.write(markdown.page(found, SECTIONS, missing, options.rounds))


if __name__ == "__main__":
    main()
