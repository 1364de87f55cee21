"""A section as plain text, line by line as it becomes known."""

from tests.accuracy.section import Row, Section, label

_NAME = 34


def heading(section: Section) -> str:
    """Title and columns."""
    titles = " ".join(f"{c.title:>{c.width}}" for c in section.columns)
    return f"\n{section.name}: {section.title}\n{'expression':{_NAME}} {titles}"


def line(section: Section, row: Row) -> str:
    """One row."""
    name = f"{label(row):{_NAME}.{_NAME}}"
    if "left_out" in row:
        return f"{name} left out: {row['left_out']}"
    return f"{name} " + " ".join(f"{c.shown(row):>{c.width}}" for c in section.columns)
