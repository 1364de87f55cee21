"""What a compiled function read while it was traced, and is another thing now."""

from collections.abc import Iterator
from dataclasses import dataclass

from ipyjaxbench.retracing.cache_key import Change
from ipyjaxbench.usercode import WITHIN, Imprint, Reads


@dataclass(frozen=True)
class ReadChange(Change):
    """One thing that is another now.

    Attributes:
        imprint: the kind of what it was; empty for the code of the function itself.
        is_same_object: whether it was changed in place.
        now: what it is, in words; empty where it is gone, or what changed is within it.
        is_data: whether the code can do with it traced; None where that is not known.
        is_gone: whether it is a name that nothing has any more.
    """

    imprint: str = ""
    is_same_object: bool = False
    now: str = ""
    is_data: bool | None = None
    is_gone: bool = False


@dataclass(frozen=True)
class PartChange(Change):
    """A part of the program was stale when the program was traced.

    Attributes:
        renew: what to do so that both are today's, with names quoted; empty where not known.
    """

    renew: str = ""


def changes_since(name: str, before: Reads, now: Reads) -> Iterator[ReadChange]:
    """Yield what changed; of another object in place of one, no more than that.

    Example:
        >>> before, now = (Reads({"scale": Imprint(w, w)}) for w in ("2.0", "3.0"))
        >>> [each.words() for each in changes_since("f", before, now)]
        ['scale was 2.0 when f was traced, is 3.0']
    """
    if before.own != now.own:
        yield ReadChange("stale", new=f"{name} was redefined in place after it was traced")
    is_other_code = before.own != now.own or any(
        old.kind == "function" and path in now.values and now.values[path].content != old.content
        for path, old in before.values.items()
    )
    told: set[str] = set()
    replaced: list[str] = []  # begins what is in objects that are others now
    order = sorted(before.values.items(), key=lambda pair: _may_hide(pair[0], pair[1], now))
    for path, old in order:
        new, (root, _, inner) = now.values.get(path), path.partition(WITHIN)
        if new is None:  # it is gone, not known, or what other code does not read any more
            is_known = not (now.raised or now.is_cut or is_other_code)
            is_same = not is_known or (old.kind == "absent" and not _has(now, path))
        else:
            is_same = new.content == old.content
        if is_same or path.startswith(tuple(replaced)) or (inner and root in told):
            continue
        told.add(root)
        is_same_object = _is_same_object(path, before, now)
        if is_same_object and not inner and new is not None and new.words == old.words:
            since = f"was changed in place after {name} was traced"
        else:
            since = _since(name, old, new, inner)
        words = "" if inner or new is None else new.words
        is_gone = not inner and root.isidentifier() and _is_gone(new) and old.kind != "absent"
        taken = old.taken_by or (new.taken_by if new is not None else "")
        yield ReadChange(
            "stale",
            f"{root}{taken}",
            old.words,
            since,
            old.kind,
            is_same_object,
            words,
            is_gone=is_gone,
        )
        if old.kind in ("object", "opaque"):
            replaced += f"{path}.", f"{path}[", f"{path}{WITHIN}"


def _is_gone(new: Imprint | None) -> bool:
    """Whether nothing has the name."""
    return new is None or (new.kind, new.words) == ("absent", "not defined")


def _may_hide(path: str, old: Imprint, now: Reads) -> bool:
    """Whether it may be equal, and is told last: a number is, or what nobody can look into."""
    new = now.values.get(path)
    try:
        is_equal = new is not None and float(old.words) == float(new.words)
    except ValueError:  # no numbers
        is_equal = False
    return old.kind == "opaque" or is_equal


def _is_same_object(path: str, before: Reads, now: Reads) -> bool:
    old, new = before.objects.get(path), now.objects.get(path)
    return old is not None and new is not None and old() is new() is not None


def _has(now: Reads, name: str) -> bool:
    """Whether something is read of what a name stands for."""
    return any(path.startswith((f"{name}.", f"{name}[")) for path in now.values)


def _since(name: str, old: Imprint, new: Imprint | None, inner: str) -> str:
    if inner:  # a library's function that holds something else
        part = inner.rpartition(WITHIN)[2]
        if new is None or new.words == old.words:
            return f"has another {part} than when {name} was traced"
        return f"had {part} {old.words} when {name} was traced, has {new.words}"
    if new is None and old.kind == "absent":
        return f"was {old.words} when {name} was traced, and is defined now"
    if new is None or _is_gone(new):
        was = "there" if old.kind == "function" else old.words
        return f"was {was} when {name} was traced, and is gone"
    if new.kind == "function" and old.kind == "absent":
        where = f" of cell {new.cell}" if new.cell else ""
        return f"was {old.words} when {name} was traced, is now a function{where}"
    if old.kind == new.kind == "function" and old.words == new.words:
        are_apart = old.cell != new.cell  # cells that are not counted have the next one's number
        where = f" in cell {new.cell}" if new.cell and are_apart else ""
        which = f"one of cell {old.cell}" if old.cell and are_apart else "earlier one"
        return f"was redefined{where}; {name} still runs the {which}"
    if old.words == new.words:
        return f"is another {new.words} than the one that {name} was traced with"
    return f"was {old.words} when {name} was traced, is {new.words}"
