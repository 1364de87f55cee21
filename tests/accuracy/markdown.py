"""All sections as one page, for people who did not run the benchmark."""

import datetime
import os
import platform
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tests.accuracy.section import Row, Section, complete, label, sentences

PAGE = Path(__file__).parents[2] / "examples" / "accuracy.md"
_PACKAGES = ("ipyjaxbench", "ipython", "numpy", "jax", "torch", "tensorflow", "tensorflow-cpu")


def page(
    found: Mapping[str, Sequence[Row]],
    sections: Mapping[str, Section],
    missing: Sequence[str],
    rounds: int,
) -> str:
    """The page.

    Args:
        found: the rows by section.
        sections: all sections by name; those without rows are left out.
        missing: frameworks that are not installed.
        rounds: how often each measurement was repeated.
    """
    lines = [
        "# How right the figures are",
        "",
        "A benchmark wrote this page. Run it again, from the repository's root, with",
        "",
        "    pip install -e '.[all]'",
        "    python -m tests.accuracy --write",
        "",
        "Run it on a machine that does nothing else: all figures are of time. All sections take",
        "about two hours on two cores; `--only` and `--rounds` take less.",
        "",
        *_conditions(found, missing, rounds),
    ]
    for name, rows in found.items():
        lines += ["", *_part(sections[name], rows, rounds)]
    return "\n".join(lines) + "\n"


def _conditions(
    found: Mapping[str, Sequence[Row]], missing: Sequence[str], rounds: int
) -> Iterator[str]:
    places = {row["place"]: None for rows in found.values() for row in rows if "place" in row}
    yield f"- Machine: {_processor()}, {len(os.sched_getaffinity(0))} cores, {platform.system()}"
    if places:
        yield f"- Devices that computed: {', '.join(places)}"
    yield f"- Python {platform.python_version()}, {', '.join(_versions())}"
    for name in missing:
        yield f"- Left out, since it is not installed here: {name}"


def _processor() -> str:
    try:
        told = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    except OSError:
        told = None
    return told[1] if told else platform.machine()


def _versions() -> Iterator[str]:
    for package in _PACKAGES:
        try:
            yield f"{package} {version(package)}"
        except PackageNotFoundError:
            continue


def _part(section: Section, rows: Sequence[Row], rounds: int) -> Iterator[str]:
    yield f"## {section.title}"
    yield ""
    today = datetime.datetime.now(datetime.UTC).date()
    yield f"{section.method} Measured on {today} in {rounds} rounds."
    yield ""
    for column in section.columns:
        yield f"- **{column.title}**: {column.meaning}."
    yield ""
    yield f"| expression | {' | '.join(c.title for c in section.columns)} |"
    yield "| --- |" + " ---: |" * len(section.columns)
    for row in complete(rows):
        yield f"| {_expression(row)} | {' | '.join(c.shown(row) for c in section.columns)} |"
    yield ""
    for sentence in sentences(section, rows):
        yield f"- {sentence}"
    for row in rows:
        if "left_out" in row:
            yield f"- Left out: {label(row)}, {row['left_out']}."


def _expression(row: Row) -> str:
    return f"{label(row)}: `{row['typed']}`" if "typed" in row else label(row)


def renewed(old: str, new: str) -> str:
    """The old page with the sections of the new one in place of those of the same title."""
    parts = {}
    for page_text in (old, new):
        head, *sections = re.split(r"^(?=## )", page_text, flags=re.MULTILINE)
        parts |= {text.partition("\n")[0]: text.rstrip() for text in sections}
    return "\n\n".join([head.rstrip(), *parts.values()]) + "\n"


def write(text: str) -> None:
    """Put the page where the examples are; sections that were not measured stay."""
    old = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    PAGE.write_text(renewed(old, text), encoding="utf-8")
    print(f"\nwritten: {PAGE.relative_to(PAGE.parents[1])}", file=sys.stderr)
