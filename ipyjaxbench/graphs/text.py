"""How much of a program's text is shown."""

from ipyjaxbench.errors import by_caller

_MOST_LINES = 80


def select_lines(text: str, wanted: str | None) -> str:
    """Return the lines that hold some text; all where none is wanted."""
    if wanted is None:
        return text
    lines = [line.strip() for line in text.splitlines() if wanted in line]
    return "\n".join(lines) or f"no line contains {wanted!r}"


def line_of_hidden(count: int, what: str) -> str:
    """Return the line that stands in place of the lines of a program that are not shown."""
    how = by_caller("--flat shows all", ".text() has all")
    return f"... {count:,} more {what} ({how}) ..."


def fold_lines(text: str) -> str:
    """Return the first and the last lines of a long text."""
    lines = text.splitlines()
    if len(lines) > _MOST_LINES:
        hidden = len(lines) - _MOST_LINES
        lines[_MOST_LINES // 2 : -_MOST_LINES // 2] = [line_of_hidden(hidden, "lines")]
    return "\n".join(lines)
