"""How much of a program's text is shown."""

from ipyjaxbench.errors import called_from
from ipyjaxbench.graphs import fold_lines, select_lines


def test_lines_with_a_text_are_shown_without_their_margin() -> None:
    text = "a = dot\n  b = add\n    c = dot"
    assert select_lines(text, "dot") == "a = dot\nc = dot"
    assert select_lines(text, "mul") == "no line contains 'mul'"
    assert select_lines(text, None) == text


def test_only_a_long_text_loses_its_middle() -> None:
    lines = [f"line {n}" for n in range(1200)]
    assert fold_lines("\n".join(lines[:80])) == "\n".join(lines[:80])
    folded = fold_lines("\n".join(lines)).splitlines()
    assert folded == [*lines[:40], "... 1,120 more lines (.text() has all) ...", *lines[-40:]]
    with called_from("%jaxpr"):
        folded = fold_lines("\n".join(lines)).splitlines()
    assert folded[40] == "... 1,120 more lines (--flat shows all) ..."
