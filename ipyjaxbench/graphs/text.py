"""How much of a program's text is shown."""

_MOST_LINES = 80


def select_lines(text: str, wanted: str | None) -> str:
    """Return the lines that hold some text; all where none is wanted."""
    if wanted is None:
        return text
    lines = [line.strip() for line in text.splitlines() if wanted in line]
    return "\n".join(lines) or f"no line contains {wanted!r}"


def fold_lines(text: str) -> str:
    """Return the first and the last lines of a long text."""
    lines = text.splitlines()
    if len(lines) > _MOST_LINES:
        hidden = len(lines) - _MOST_LINES
        lines[_MOST_LINES // 2 : -_MOST_LINES // 2] = [
            f"... {hidden:,} more lines (--flat shows all) ..."
        ]
    return "\n".join(lines)
