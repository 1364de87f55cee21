"""Every report there is, as a notebook shows it that was not run here."""

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from ipyjaxbench.comparison.sweep import Sweep
from ipyjaxbench.errors import RecordError
from ipyjaxbench.reports import html
from ipyjaxbench.reports.badges import BADGES
from ipyjaxbench.reports.blocks import (
    Report,
)
from ipyjaxbench.reports.pictures.drawing import COLOURS, INK
from ipyjaxbench.reports.pictures.stack import KINDS
from tests import samples
from tests.sanitiser import Page, assert_survives, dropped

_HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "' style='x:y", "&lt;",
            "</table></div>", "x" * 300, "javascript:alert(1)", "\n\n", "{{ 7 * 7 }}")  # fmt: skip
_words = st.sampled_from(_HOSTILE) | st.text("<>&'\"a;:{}%# \n/=\\é漢", max_size=30)


def test_there_is_a_sample_of_each_block_and_of_each_kind_of_result() -> None:
    assert set(samples.BLOCKS) == samples.block_kinds()
    assert {each.kind for each in samples.results().values()} == set(samples.result_kinds())


@pytest.mark.parametrize("name", samples.BLOCKS)
@example(_HOSTILE[0])
@example(_HOSTILE[1])
@settings(max_examples=10)
@given(words=_words)
def test_nothing_of_a_block_is_dropped_and_its_words_add_no_tag(name: str, words: str) -> None:
    block = samples.BLOCKS[name]
    page = Page(html.render(Report((_with(block, words),))))
    assert_survives(page)
    plain = Page(html.render(Report((_with(block, "x" * 300),))))
    of_words = {"wbr", "span", "code"}  # where a word may be broken, and pieces of programs
    tags, expected = ([tag for tag, _ in p.tags if tag not in of_words] for p in (page, plain))
    assert tags == expected
    first = words.strip().splitlines()
    described = " ".join(attributes.get("alt") or "" for _, attributes in page.tags)
    assert not first or first[0].strip() in page.text + described


@pytest.mark.parametrize("kind", samples.result_kinds())
def test_forged_records_are_refused_or_escaped(kind: str) -> None:
    same = [each for each in samples.results().values() if each.kind == kind]
    sample = min(same, key=lambda each: len(str(each.to_dict())))
    if isinstance(sample, Sweep):
        sample = replace(sample, points=sample.points[:1])  # all others are alike
    words = _HOSTILE[1]
    seen = 0
    for facts in _forged(sample.to_dict()["facts"], words):
        try:
            read = type(sample).from_dict({**sample.to_dict(), "facts": facts})
        except RecordError:
            continue
        page = Page(html.render(read.report()))
        assert_survives(page)
        described = " ".join(attributes.get("alt") or "" for _, attributes in page.tags)
        seen += words in page.text + described
    assert seen


def _with(value: Any, words: str) -> Any:
    """The same, with these words in front of all others."""
    if isinstance(value, str):
        return words + value
    if isinstance(value, tuple):
        return tuple(_with(each, words) for each in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{f.name: _with(getattr(value, f.name), words) for f in fields(value)}
        )
    return value


def _forged(facts: Any, words: str) -> Iterator[Any]:
    """Copies of plain data, in each of which all texts under one name are changed."""
    for name in sorted(_names(facts)):
        yield _changed(facts, name, words, under="")


def _names(value: Any, under: str = "") -> set[str]:
    if isinstance(value, dict):
        return set().union(*(_names(each, name) for name, each in value.items()))
    if isinstance(value, list):
        return set().union(*(_names(each, under) for each in value))
    return {under} if isinstance(value, str) else set()


def _changed(value: Any, name: str, words: str, under: str) -> Any:
    if isinstance(value, dict):
        return {key: _changed(each, name, words, key) for key, each in value.items()}
    if isinstance(value, list):
        return [_changed(each, name, words, under) for each in value]
    return words + value if isinstance(value, str) and name == under else value


@pytest.mark.parametrize(
    "source",
    ["<script>x</script>", "<div onclick=x></div>", '<div style="position:fixed"></div>',
     '<img src="http://a/b.png">', '<div style="color:var(--x)"></div>', "<svg></svg>",
     '<div role="img"></div>', '<div style="padding:2ch"></div>', '<a href="x">x</a>'],
)  # fmt: skip
def test_the_rule_tells_what_is_dropped(source: str) -> None:
    kept = '<a href="x">'  # the only one that stays
    assert bool(list(dropped(Page(source)))) is (not source.startswith(kept))


def test_colours_of_lines_stand_out_on_white_and_on_black() -> None:
    looks = [colour for colour, _, _ in KINDS.values() if colour != "none"]  # that draws nothing
    badges = [badge.colour for badge in BADGES.values()]
    for colour in (*COLOURS, *looks, *badges, INK, "#888888"):
        for page in ("#ffffff", "#111111"):  # the latter is JupyterLab's black
            light, dark = sorted((_luminance(colour), _luminance(page)), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 3, (colour, page)


def _luminance(colour: str) -> float:
    """Of WCAG 2, where 3 to 1 is asked of graphics."""
    parts = [int(each, 16) / 255 for each in re.findall("[0-9a-f]{2}", colour)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
