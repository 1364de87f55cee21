"""What JupyterLab keeps of the HTML in a notebook that is not trusted.

The rule is its own, read from its source into ``sanitiser.json``. Whatever is dropped, is dropped
in words here, before anyone sees it in a page.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

_RULE = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
_TAGS = set(_RULE["tags"].split())
_ATTRIBUTES = {tag: set(names.split()) for tag, names in _RULE["attributes"].items()}
_VOID = {"br", "img", "wbr"}
_SPACED = dict.fromkeys(("br", "div", "th", "td", "summary", "caption"), " ")  # stand apart


class Page(HTMLParser):
    """Tags with their attributes, and the text between them."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.folded = ""
        self.open: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)
        self.handle_data(_SPACED.get(tag, ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self.handle_data(_SPACED.get(tag, ""))

    def handle_data(self, data: str) -> None:
        self.text += data
        if "details" in self.open:
            self.folded += data

    def handle_comment(self, data: str) -> None:
        self.tags.append(("comment", {}))

    handle_decl = handle_pi = unknown_decl = handle_comment


def assert_survives(page: Page) -> None:
    """Nothing in it would be dropped, and all that was opened is closed."""
    assert page.open == []
    assert list(dropped(page)) == []


def dropped(page: Page) -> Iterator[str]:
    """What would not be there in an untrusted notebook, or would come from elsewhere."""
    for tag, attributes in page.tags:
        if tag not in _TAGS:
            yield f"<{tag}>"
        for name, value in attributes.items():
            if name not in _ATTRIBUTES["*"] | _ATTRIBUTES.get(tag, set()):
                yield f"{name} of <{tag}>"
            if name == "src" and not (value or "").startswith("data:image/svg+xml;base64,"):
                yield f"src of <{tag}>: {value}"
        for style in filter(None, (attributes.get("style") or "").split(";")):
            name, _, value = style.partition(":")
            if not _keeps(name, value):
                yield style


@cache
def _keeps(name: str, value: str) -> bool:
    # Jupyter's patterns bind ``^`` to the first alternative alone; here all must match as a whole.
    pattern = _RULE["styles"].get(name)
    return bool(pattern and re.fullmatch(pattern.removeprefix("^").removesuffix("$"), value, re.I))
