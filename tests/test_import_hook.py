"""What is told as soon as a framework has been imported."""

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

from ipyjaxbench.import_hook import ImportHook, is_being_imported

#: Modules that are imported by tests alone: one imports the other, one fails.
FILES = {
    "outer_of_a_test.py": "import inner_of_a_test\nvalue = 3",
    "inner_of_a_test.py": "value = 2",
    "broken_of_a_test.py": "raise KeyError('no')",
}
NAMES = tuple(name.removesuffix(".py") for name in FILES)


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, bool]]]:
    """What was told: each name, and whether the outer module was being imported then."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    seen = list[tuple[str, bool]]()
    hook = ImportHook(NAMES, lambda name: seen.append((name, is_being_imported(NAMES[0]))))
    of_python = [each for each in sys.meta_path if isinstance(each, type)]  # none of pytest's
    monkeypatch.setattr(sys, "meta_path", [hook, *of_python])
    yield seen
    for name in NAMES:
        sys.modules.pop(name, None)


def test_each_module_is_told_once_it_is_there(told: list[tuple[str, bool]]) -> None:
    importlib.import_module(NAMES[0])
    assert told == [(NAMES[1], True), (NAMES[0], True)]  # itself, too, until it is handed out
    assert not is_being_imported(NAMES[0])
    importlib.import_module(NAMES[0])
    importlib.import_module("colorsys")
    assert len(told) == 2
    with pytest.raises(KeyError, match="no"):
        importlib.import_module(NAMES[2])
    assert len(told) == 2


def test_modules_keep_their_own_loaders(told: list[tuple[str, bool]]) -> None:
    looked_up = importlib.util.find_spec(NAMES[1])
    assert looked_up is not None
    assert looked_up.origin == looked_up.loader.get_filename(NAMES[1])  # type: ignore[union-attr]
    assert told == []
    module = importlib.import_module(NAMES[1])
    assert module.__spec__ is not None
    assert type(module.__spec__.loader) is type(module.__loader__) is SourceFileLoader
    importlib.reload(module)
    assert [name for name, _ in told] == [NAMES[1]] * 2
    assert importlib.util.find_spec("absent_of_a_test") is None
