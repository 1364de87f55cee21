"""In what two keys differ, leaf by leaf."""

from collections.abc import Callable, Iterator, Sequence

from ipyjaxbench.retracing.cache_key import MAYBE, NUMBERS, Change, Leaf, Signature

#: What the static data of a tree is, by its class; of others nobody knows.
_STATIC = {"OrderedDict": "order"}


def changes(old: Signature, new: Signature) -> Iterator[Change]:
    """Yield in what two signatures differ."""
    if old.function != new.function:
        yield from _function_changes(old, new)
    yield from _form_changes(old, new)
    yield from _leaf_changes(old, new)
    for name in dict.fromkeys([*old.settings, *new.settings]):
        one, other = old.settings.get(name, "?"), new.settings.get(name, "?")
        if one != other:
            yield Change("setting", name, one, other)
    for name in old.options.keys() & new.options.keys():
        one, other = old.options[name], new.options[name]
        if one != other:
            yield Change("option", name, one, other)
    if old.transformation != new.transformation:
        yield Change("transformation", "", *map(_called, (old.transformation, new.transformation)))


def _leaf_changes(old: Signature, new: Signature) -> Iterator[Change]:
    """Yield in what leaves differ; of a tree's static data, the parts of it that are known."""
    changes = [*_all_leaf_changes(old, new)]
    paths = [path for path, _ in changes]
    for path, change in changes:
        is_of_parts = _is_tree(old.leaves.get(path)) and change.kind in ("static value", "order")
        if not (is_of_parts and any(map(_is_within(path), paths))):
            yield change


def _all_leaf_changes(old: Signature, new: Signature) -> Iterator[tuple[str, Change]]:
    other: list[str] = []  # begins what is in a value that came, went, or has another type
    same: set[str] = set()  # trees whose static data, among them attributes, are the same
    names = _names(old) & _names(new)
    for path in dict.fromkeys([*old.leaves, *new.leaves]):
        before, after = old.leaves.get(path), new.leaves.get(path)
        if path.startswith(tuple(other)):
            continue
        if before is None or after is None:
            other += f"{path}[", f"{path}."
            if path.partition("[")[0].partition(".")[0] in names:
                yield path, Change("structure", path, "", "was added" if after else "was removed")
            continue
        if before.kind != after.kind:
            other += f"{path}[", f"{path}."
        elif _is_tree(after) and after.identity and before.identity == after.identity:
            same.add(path)
        is_same = after.kind == "static" and path.rpartition(".")[0] in same
        if before != after and before.in_key and after.in_key and not is_same:
            yield from ((path, change) for change in _changes_in_leaf(path, before, after))


def _is_tree(leaf: Leaf | None) -> bool:
    return leaf is not None and not leaf.dtype and leaf.kind not in ("static", *NUMBERS)


def _is_within(whole: str) -> Callable[[str], bool]:
    return lambda path: path.startswith((f"{whole}[", f"{whole}."))


def _function_changes(old: Signature, new: Signature) -> Iterator[Change]:
    """Yield what another function object has captured, where that tells it from the old one."""
    captured = []
    for name, after in new.captured.items():
        before = old.captured.get(name)
        if before is not None and before != after:
            one, other = before.value or before.words(), after.value or after.words()
            captured.append(Change("captured", name, one, _another(one, other)))
    yield from captured or [Change("function", new="same code")]


def _another(old: str, new: str) -> str:
    return f"another {new}" if old == new else new


def _called(transformation: str) -> str:
    return f"called under {transformation}" if transformation else "called directly"


def _names(signature: Signature) -> set[str]:
    return {each.removesuffix("=") for each in signature.form}


def _form_changes(old: Signature, new: Signature) -> Iterator[Change]:
    for name in sorted(_names(old) | _names(new)):
        one, other = _form_of(name, old.form), _form_of(name, new.form)
        if one != other:
            yield Change("form", name, one, other)
            yield from _changes_from_default(name, old, new)


def _changes_from_default(name: str, old: Signature, new: Signature) -> Iterator[Change]:
    """Yield how a static argument that one of two calls leaves out differs from its default."""
    before, after = ({**each.omitted, **each.leaves}.get(name) for each in (old, new))
    if name in (*old.omitted, *new.omitted) and before and after and before.kind == after.kind:
        yield from _changes_in_leaf(name, before, after)


def _form_of(name: str, form: Sequence[str]) -> str:
    if name in form:
        return "passed positionally"
    return "passed by keyword" if f"{name}=" in form else "omitted"


def _changes_in_leaf(path: str, old: Leaf, new: Leaf) -> Iterator[Change]:
    texts = old.words(), new.words()
    if old.kind != new.kind:
        yield _change_of_kind(path, old, new)
        return
    if len(old.shape) != len(new.shape):
        yield Change("rank", path, *texts)
    elif old.shape != new.shape:
        yield Change("shape", path, *texts)
    if old.dtype != new.dtype:
        yield Change("dtype", path, *texts)
    elif old.weak != new.weak:
        yield Change("weak type", path, *texts)
    if old.kind != "array" and (old.value, old.identity) != (new.value, new.identity):
        number = MAYBE if new.abstract else "number"
        kind = number if new.kind in NUMBERS else _STATIC.get(new.kind, "static value")
        yield Change(kind, path, old.value, _another(old.value, new.value))
    if old.layout != new.layout:
        yield Change("layout", path, old.layout, new.layout)
    yield from _place_changes(path, old, new)


def _change_of_kind(path: str, old: Leaf, new: Leaf) -> Change:
    texts = old.words(), new.words()
    if old.abstract and old.abstract == new.abstract:
        return Change("scalar", path, *texts)
    is_none = "None" in (old.value, new.value)  # which may be given for data, too
    if "static" in (old.kind, new.kind) and (old.abstract or new.abstract) and not is_none:
        roles = ("static" if each.kind == "static" else "data" for each in (old, new))
        return Change("role", path, *roles)
    return Change("structure" if _is_tree(old) and _is_tree(new) else "type", path, *texts)


def _place_changes(path: str, old: Leaf, new: Leaf) -> Iterator[Change]:
    if old.host != new.host:
        kinds = ("a device array", "a NumPy array")
        yield Change("host array", path, kinds[old.host], kinds[new.host])
    elif old.committed != new.committed:
        bound = old if old.committed else new
        split = f" as {bound.sharding}" if old.sharding != new.sharding and bound.sharding else ""
        words = ("uncommitted", f"committed to {bound.device}{split}")
        yield Change("committed", path, words[old.committed], words[new.committed])
    elif old.device != new.device and old.device and new.device:
        yield Change("device", path, old.device, new.device)
    elif old.sharding != new.sharding:
        yield Change("sharding", path, old.sharding, new.sharding)
