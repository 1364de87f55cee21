"""What is shipped to browsers: as small as promised, of this version, and of text nodes only."""

import json
import re

import ipyjaxbench
from ipyjaxbench.server.page import STATIC

MODULES = sorted(STATIC.glob("*.js"))
_MAX_BYTES = 60 * 1024
#: Ways by which text of a record could become an element, or run.
_UNSAFE = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
)


def test_it_is_of_this_version() -> None:
    shipped = json.loads((STATIC.parent / "package.json").read_text("utf-8"))
    assert shipped["version"] == ipyjaxbench.__version__.replace(".dev", "-dev")


def test_it_is_small_and_nothing_in_it_becomes_an_element_or_comes_from_elsewhere() -> None:
    assert len(MODULES) > 10
    assert sum(path.stat().st_size for path in MODULES) <= _MAX_BYTES
    assert [path.name for path in MODULES if _UNSAFE.search(path.read_text("utf-8"))] == []
    text = "".join(path.read_text("utf-8") for path in STATIC.iterdir())
    addresses = set(re.findall(r"https?://[^\s'\"`)]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}  # the name of a vocabulary
