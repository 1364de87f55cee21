"""Programs are shown in pieces, of which none is lost."""

import pytest
from hypothesis import given, strategies as st

from ipyjaxbench.reports import highlight


@given(st.text(max_size=200))
def test_the_pieces_of_any_line_are_the_line(line: str) -> None:
    assert "".join(text for _, text in highlight.split_line(line)) == line


@pytest.mark.parametrize(
    ("line", "kind", "piece"),
    [
        ("    d:f32[8,64] = tanh c", "operation", "tanh"),
        ("    d:f32[8,64] = tanh c", "type", "f32[8,64]"),
        ("{ lambda ; a:f32[]. let", "keyword", "lambda"),
        ("    b:key<fry>[] = random_wrap[impl=fry] a", "type", "key<fry>[]"),
        ("    %1 = stablehlo.tanh %0 : tensor<8x64xf32>", "operation", "stablehlo.tanh"),
        ("    %1 = stablehlo.tanh %0 : tensor<8x64xf32>", "type", "tensor<8x64xf32>"),
        ("  ROOT %t = f32[8,64]{1,0} fusion(%x), kind=kLoop", "operation", "fusion"),
        ("mm: f32[3,5] = aten.mm(x, w)", "operation", "aten.mm"),
        ("    ... 1,234 more equations ...", "comment", "    ... 1,234 more equations ..."),
        ("-    d:f32[8,64] = tanh c", "removed", "-    d:f32[8,64] = tanh c"),
        ("+    d:f32[8,64] = sin c", "added", "+    d:f32[8,64] = sin c"),
        ("  y = x  # why", "comment", "# why"),
        ('  %2 = "mhlo.copy"(%1)', "string", '"mhlo.copy"'),
        ("b:f32[3] = tanh a", "", " a"),
    ],
)
def test_pieces_are_told_by_their_kind(line: str, kind: str, piece: str) -> None:
    assert (kind, piece) in list(highlight.split_line(line))


def test_a_text_in_no_language_stays_whole() -> None:
    line = "- return f32[3]"
    assert list(highlight.split_line(line, "text")) == [("", line)]
    assert list(highlight.split_line("", "text")) == [("", "")]
    assert list(highlight.split_line("return", "jaxpr")) == [("keyword", "return")]
    assert list(highlight.split_line("", "jaxpr")) == []
