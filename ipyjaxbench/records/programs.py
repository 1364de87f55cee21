"""Texts of compiled programs, kept packed beside the history: each once, the oldest go first."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ipyjaxbench.host import make_data_folder, open_private

MAX_BYTES = 32_000_000  # of all files, packed
_MAX_TEXT = 32_000_000  # characters of one text; a longer one is not kept
_SUFFIX = ".txt.gz"
_DIGEST_LENGTH = 32  # hexadecimal digits


def keep_programs(texts: Mapping[str, str]) -> dict[str, str]:
    """Keep texts, and return under which digest each is found; what cannot be kept is left out."""
    place = make_data_folder("programs")
    kept: dict[str, str] = {}
    for name, text in texts.items() if place is not None else ():
        digest = _digest(text.encode())
        path = Path(place or "", digest + _SUFFIX)
        if len(text) <= _MAX_TEXT and _write(path, text):
            kept[name] = digest
    if place is not None and kept:
        _limit_size(place)
    return kept


def read_program(digest: str) -> str | None:
    """Return a text that was kept; None where it is gone, or is not what was kept."""
    place = make_data_folder("programs")
    if place is None or len(digest) != _DIGEST_LENGTH or not digest.isalnum():
        return None
    import gzip
    import zlib

    try:
        with gzip.open(place / (digest + _SUFFIX), "rb") as file:
            data = file.read(4 * _MAX_TEXT)  # UTF-8 has up to four bytes for a character
    except (OSError, EOFError, zlib.error):
        return None
    is_whole = _digest(data) == digest
    return data.decode(errors="replace") if is_whole else None


def _digest(data: bytes) -> str:
    import hashlib

    return hashlib.sha256(data).hexdigest()[:_DIGEST_LENGTH]


def _write(path: Path, text: str) -> bool:
    import gzip

    scratch = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        if path.exists():
            os.utime(path)  # it is in use, and goes last
            return True
        with open(scratch, "wb", opener=open_private) as file:
            file.write(gzip.compress(text.encode(), mtime=0))
        os.replace(scratch, path)
    except OSError:
        with suppress(OSError):
            scratch.unlink()
        return False
    return True


def _limit_size(place: Path) -> None:
    """Remove the files that were used least recently, of too many bytes."""
    found = []
    with suppress(OSError):
        for entry in os.scandir(place):
            with suppress(OSError):  # another process may remove it meanwhile
                found.append((entry.stat().st_mtime, entry.stat().st_size, entry.path))
    size = 0
    for _, nbytes, path in sorted(found, reverse=True):
        size += nbytes
        if size > MAX_BYTES:
            with suppress(OSError):
                os.unlink(path)
