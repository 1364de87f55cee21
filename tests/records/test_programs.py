"""Texts of programs are kept once, packed, within a limit, and never read wrong."""

import gzip
import os
from pathlib import Path

import pytest

from ipyjaxbench.records import programs
from ipyjaxbench.records.programs import keep_programs, read_program


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of this test's own."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    return tmp_path / "ipyjaxbench" / "programs"


def test_the_same_text_is_kept_once_and_its_owner_alone_reads_it(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "ä" * 1000
    first, second = (keep_programs({name: text})[name] for name in ("a", "b"))
    assert first == second
    assert read_program(first) == text
    (file,) = place.iterdir()
    assert file.stat().st_mode & 0o077 == 0
    assert gzip.decompress(file.read_bytes()) == text.encode()
    (tmp_path / "file").touch()
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "file"))  # no folder can be made there
    assert keep_programs({"step": "text"}) == {}


def test_what_is_used_least_recently_goes_first(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {str(n): os.urandom(2000).hex() for n in range(3)}
    digests = {}
    for age, (name, text) in enumerate(texts.items()):
        digests |= keep_programs({name: text})
        os.utime(place / f"{digests[name]}.txt.gz", (age, age))
    size = max(file.stat().st_size for file in place.iterdir())
    monkeypatch.setattr(programs, "MAX_BYTES", 7 * size // 2)  # of three, some bytes larger or not
    keep_programs({"0": texts["0"]})  # used again
    keep_programs({"3": os.urandom(2000).hex()})
    left = [read_program(digest) is not None for digest in digests.values()]
    assert left == [True, False, True]


def test_a_text_that_is_too_long_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_MAX_TEXT", 10)
    assert keep_programs({"step": "x" * 11, "loss": "x" * 10}).keys() == {"loss"}


def test_a_damaged_file_is_as_good_as_gone_and_what_names_no_text_reads_none(place: Path) -> None:
    digest = keep_programs({"step": "text"})["step"]
    for data in (b"", b"no gzip", gzip.compress(b"another text")):
        (place / f"{digest}.txt.gz").write_bytes(data)
        assert read_program(digest) is None
    for wrong in ("", "../../etc/passwd", "0" * 32, "g" * 32, "0" * 31):
        assert read_program(wrong) is None
