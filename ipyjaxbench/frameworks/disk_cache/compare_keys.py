"""Why a cache on disk had no program: its key against those of the entries that are known."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from ipyjaxbench import units
from ipyjaxbench.frameworks.disk_cache.entry_store import Entry, Parts
from ipyjaxbench.frameworks.disk_cache.miss import Cause, Difference, DiskMiss

#: The part that is the program itself, which an entry should have in common with a search.
PROGRAM = "the program"
#: Field of a part that holds the hash of all of it: read where no other field tells.
DIGEST = "digest"
#: What of a program may differ, the nearest first.
_PROGRAMS = _ARRAYS, _CODE, _TYPES = (
    f"{PROGRAM}'s captured arrays",
    f"{PROGRAM}'s code",
    f"{PROGRAM}'s argument types",
)
_MAX_DETAILS = 3  # of a part
_MAX_VALUE = 60  # letters
#: Part -> those that change along with it.
_IMPLIED = {"XLA flags": ("compile options",), "jaxlib version": ("compile options",)}


def explain_miss(
    program: str,
    sought: Entry,
    entries: Sequence[Entry],
    has: Callable[[str], bool],
    *,
    was_there: bool,
) -> DiskMiss:
    """Return why a program was not found.

    Args:
        program: its name.
        sought: its key, what that was made of, and the moment of the search.
        entries: what is known of the program's entries; those made since are left out.
        has: whether the cache has an entry of a key now.
        was_there: whether it had one of the key that was sought, at the search.
    """
    known = [each for each in entries if each.when < sought.when]
    if own := [each for each in known if each.key == sought.key]:
        cause: Cause = "unread" if was_there else "gone"
        return DiskMiss(program, sought.when, cause, entry=own[-1].when)
    there = [each for each in known if has(each.key)]
    if not there:
        return DiskMiss(program, sought.when, "first")
    compared = [(list(_differences(each.parts, sought.parts)), each) for each in there]
    differences, nearest = min(compared, key=lambda pair: _distance(*pair))
    if any(each.part == _TYPES for each in differences):  # the nearest: no other has these
        return DiskMiss(program, sought.when, "types")
    return DiskMiss(program, sought.when, "differs", tuple(differences), nearest.when)


def _distance(differences: Sequence[Difference], entry: Entry) -> tuple[int, int, float]:
    """Return how far away an entry is: first its program, then other parts, then its age."""
    programs = [_PROGRAMS.index(each.part) for each in differences if each.part in _PROGRAMS]
    return sum(programs, len(programs)), len(differences), -entry.when


def _differences(old: Parts, new: Parts) -> Iterator[Difference]:
    changed = [part for part in new if not _is_same(old.get(part, {}), new[part])]
    implied = {other for part in changed for other in _IMPLIED.get(part, ())}
    for part in changed:
        before, after = old.get(part, {}), new[part]
        if part == PROGRAM:
            yield _program_difference(before, after)
            continue
        details = [*_details(before, after)]
        if details or part not in implied:
            yield Difference(part, _join(details))


def _is_same(old: Mapping[str, str], new: Mapping[str, str]) -> bool:
    """Whether all of a part is equal: what was hashed tells, whatever else was noted beside it."""
    if DIGEST in old and DIGEST in new:
        return old[DIGEST] == new[DIGEST]
    return dict(old) == dict(new)


def _program_difference(old: Mapping[str, str], new: Mapping[str, str]) -> Difference:
    """Return what of a program differs: its arguments, its code, or captured arrays in it."""
    types = old.get("types", ""), new.get("types", "")
    if types[0] != types[1]:
        return Difference(_TYPES, "")
    if old.get("code") == new.get("code"):
        return Difference(_ARRAYS, "same code, other values")
    return Difference(_CODE, "same argument types")


def _details(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    for field in sorted((old.keys() | new.keys()) - {DIGEST}):
        if old.get(field) != new.get(field):
            yield _changed(field, old.get(field), new.get(field))


def _changed(field: str, old: str | None, new: str | None) -> str:
    known = ((value or None) if not field else value for value in (old, new))
    before, after = (None if v is None else units.cut(v, _MAX_VALUE) for v in known)
    if after is None:
        return f"without {_assigned(field, before)}"
    if before is None:
        return f"{_assigned(field, after)} is new"
    return f"{_assigned(field, after)}, was {before}"


def _assigned(field: str, value: str | None) -> str:
    return f"{field}={value}" if field and value else field or str(value)


def _join(details: Sequence[str]) -> str:
    more = len(details) - _MAX_DETAILS
    return "; ".join(details[:_MAX_DETAILS]) + (f"; and {more} more" if more > 0 else "")
