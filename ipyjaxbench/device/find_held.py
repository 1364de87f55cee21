"""Walks from what may hold arrays to the arrays; what they share is counted once."""

import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from ipyjaxbench.device.beside_attributes import parts_of_name
from ipyjaxbench.device.held import Held, Holder, Kind
from ipyjaxbench.device.protocol import ArrayInspector, DeviceInventory
from ipyjaxbench.device.whereabouts import ArrayMemory
from ipyjaxbench.frameworks import (
    Compilation,
    Framework,
    find_compiler,
    is_keras_optimizer,
    iterate_arrays,
    iterate_named_arrays,
    loaded,
)

#: Of a device: what allocators and libraries take for themselves.
_MIN_UNEXPLAINED = 2**20
#: What to type where several arrays of a value keep something.
_OF_MANY = {"gradient": "set each .grad to None", "graph": "keep x.detach(), not x"}
_RELEASABLE = ("output", "traceback")
_WITHOUT_PATHS = ("optimizer", "generator", "cache")


class Root(NamedTuple):
    """Where a walk begins.

    Attributes:
        kind: what it is.
        name: what paths from it begin with.
        value: that it holds.
        let_go: what to type to let go of it.
    """

    kind: Kind
    name: str
    value: object
    let_go: str


class _Memory(NamedTuple):
    """Memory of arrays, and which roots lead to it."""

    nbytes: int
    framework: str
    devices: tuple[str, ...]
    holders: set[tuple[Kind, str]]
    arrays: list[weakref.ref[Any]]


class HeldMemory:
    """The memory that roots lead to; it holds no array itself.

    Args:
        names: those of the session, by which arrays are held on purpose.
        roots: what else may hold arrays.
        apart: objects that lead to the whole session, and are not looked into.
    """

    def __init__(
        self, names: Mapping[str, object], roots: Iterable[Root], apart: Sequence[object] = ()
    ) -> None:
        self._frameworks, _ = loaded()
        self._apart = apart
        self._memory: dict[str, _Memory] = {}
        self._paths: dict[tuple[Kind, str], list[str]] = {}
        self._let_go: dict[tuple[Kind, str], str] = {}
        self._bases: set[int] = set()
        values = {n: v for n, v in names.items() if not issubclass(type(v), ModuleType)}
        inspectors = [f.capability(ArrayInspector) for f in self._frameworks]
        self._unseen = tuple(
            name for name, value in values.items() if any(i.keeps_unseen(value) for i in inspectors)
        )
        own = [self._root_of(name, value) for name, value in values.items()]
        captured = [
            root
            for name, value in values.items()
            for root in _captured(name, value, self._frameworks)
        ]
        captured += [
            Root(*part) for name, value in values.items() for part in parts_of_name(name, value)
        ]
        # What names lead to is found first: it is no news that something else holds it, too.
        own += [root for root in captured if root.kind == "name"]
        captured = [root for root in captured if root.kind != "name"]
        for root in (*sorted(own, key=_is_optimizer), *captured, *roots):
            self._add(root)

    def result(self) -> Held:
        """Return what was found."""
        holders = [self._holder(key) for key in self._paths if key[0] != "name"]
        return Held(
            holders=tuple(sorted(holders, key=lambda each: (-each.alone, -each.nbytes))),
            named=sum(m.nbytes for m in self._memory.values() if _is_named(m)),
            releasable=sum(
                m.nbytes
                for m in self._memory.values()
                if all(kind in _RELEASABLE for kind, _ in m.holders)
            ),
            elsewhere={
                f.name: (len(lost), sum(each.nbytes for each in lost.values()))
                for f in self._frameworks
                if (lost := self._lost(f))
            },
            unseen=self._unseen,
            unexplained=dict(pair for f in self._frameworks for pair in self._unexplained(f)),
            frameworks={f.name: f.version() for f in self._frameworks if self._is_used(f)},
        )

    def freed_until(self, later: "HeldMemory") -> int:
        """Return the bytes whose arrays are gone, and that a later walk did not find either."""
        return sum(
            memory.nbytes
            for key, memory in self._memory.items()
            if key not in later._memory and all(ref() is None for ref in memory.arrays)
        )

    def holds_arrays(self, kind: Kind, name: str) -> bool:
        """Whether a root led to an array."""
        return (kind, name) in self._paths

    def holds_any(self, kind: Kind) -> bool:
        """Whether a root of a kind led to an array."""
        return any(own == kind for own, _ in self._paths)

    def _root_of(self, name: str, value: object) -> Root:
        inspectors = (f.capability(ArrayInspector) for f in self._frameworks)
        is_optimizer = is_keras_optimizer(value)
        is_optimizer |= any(each.is_optimizer(value) for each in inspectors)
        return Root("optimizer" if is_optimizer else "name", name, value, f"del {name}")

    def _add(self, root: Root) -> None:
        found = [*self._walk(root)]
        for path, framework, array in found:
            self._note(root, path, framework, array)
        for path, framework, array in found:
            for kind, held, let_go in framework.capability(ArrayInspector).attached(array):
                is_ours = root.kind in _RELEASABLE
                own = Root(
                    kind=root.kind if is_ours else kind,
                    name=f"the {kind}s of {root.name}",
                    value=held,
                    let_go=root.let_go if is_ours else let_go.format(path),
                )
                for _, other, inner in self._named_arrays(held):
                    self._note(own, f"the {kind} of {path}", other, inner)

    def _walk(self, root: Root) -> Iterator[tuple[str, Framework, Any]]:
        """Yield arrays with paths; an optimizer's state has tensors for keys, which are no path."""
        if root.kind in _WITHOUT_PATHS:
            for framework, array in iterate_arrays(root.value, self._frameworks):
                yield root.name, framework, array
            return
        for path, framework, array in self._named_arrays(root.value):
            yield root.name + path, framework, array

    def _named_arrays(self, value: object) -> Iterator[tuple[str, Framework, Any]]:
        return iterate_named_arrays("", value, self._frameworks, apart=self._apart)

    def _note(self, root: Root, path: str, framework: Framework, array: Any) -> None:
        inspector = framework.capability(ArrayInspector)
        self._bases.add(id(inspector.base_array(array)))
        found = inspector.memory(array)
        if found is None or not found.nbytes:
            return
        memory = self._memory.setdefault(
            found.key, _Memory(found.nbytes, framework.name, found.devices, set(), [])
        )
        memory.arrays.append(weakref.ref(array))
        if _is_known(root.kind, {kind for kind, _ in memory.holders}):
            return
        key = root.kind, root.name
        if key not in memory.holders:
            memory.holders.add(key)
            self._paths.setdefault(key, []).append(path)
            self._let_go[key] = root.let_go

    def _holder(self, key: tuple[Kind, str]) -> Holder:
        own = [memory for memory in self._memory.values() if key in memory.holders]
        others = (other for m in own for other in sorted(m.holders) if other != key)
        paths, let_go = [*dict.fromkeys(self._paths[key])], self._let_go[key]
        return Holder(
            kind=key[0],
            path=paths[0] if len(paths) == 1 else key[1],
            arrays=len(own),
            nbytes=sum(memory.nbytes for memory in own),
            alone=sum(memory.nbytes for memory in own if memory.holders == {key}),
            also=next((name for _, name in others), ""),
            let_go=let_go if len(paths) == 1 else _OF_MANY.get(key[0], let_go),
        )

    def _lost(self, framework: Framework) -> dict[str, ArrayMemory]:
        """Return the memory of arrays that a framework lists and no walk came to."""
        inspector = framework.capability(ArrayInspector)
        lost = (each for each in inspector.live_arrays() if id(each) not in self._bases)
        found = filter(None, map(inspector.memory, lost))
        return {each.key: each for each in found if each.nbytes and each.key not in self._memory}

    def _unexplained(self, framework: Framework) -> Iterator[tuple[str, int]]:
        """Yield what devices count as in use, beyond the arrays that were found or listed."""
        inventory = framework.capability(DeviceInventory)
        if not inventory.has_devices or not framework.started():
            return
        own = (each for each in self._memory.values() if each.framework == framework.name)
        arrays = [(each.nbytes, each.devices) for each in own]
        arrays += [(each.nbytes, each.devices) for each in self._lost(framework).values()]
        known: Counter[str] = Counter()
        for nbytes, devices in arrays:
            known.update(dict.fromkeys(devices, nbytes // len(devices)))
        for device in inventory.devices().devices:
            rest = (device.used or 0) - known[device.name]
            if rest >= _MIN_UNEXPLAINED:
                yield f"{framework.name} {device.name}", rest

    def _is_used(self, framework: Framework) -> bool:
        return any(memory.framework == framework.name for memory in self._memory.values())


def _is_known(kind: Kind, holders: set[Kind]) -> bool:
    """Whether it says nothing new that one more of a kind holds memory.

    Of the frames that were given an array the first is enough, and what names lead to is no
    secret of graphs, closures or optimizers; but names do not keep results alone.
    """
    if kind in ("name", "output"):
        return False
    return kind in holders or (kind != "traceback" and "name" in holders)


def _is_optimizer(root: Root) -> bool:
    return root.kind == "optimizer"


def _is_named(memory: _Memory) -> bool:
    return any(kind == "name" for kind, _ in memory.holders)


def _captured(name: str, value: object, frameworks: Sequence[Framework]) -> Iterator[Root]:
    """Yield what a function keeps of the function around it, and its defaults."""
    compiler = find_compiler(value, frameworks)
    function = compiler.original(value) if isinstance(compiler, Compilation) else value
    if type(function) is not FunctionType:
        return
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    kept = {cell: content.cell_contents for cell, content in cells if _is_full(content)}
    kept |= {f"default {i}": each for i, each in enumerate(function.__defaults__ or ())}
    for variable, content in kept.items():
        yield Root("closure", f"{name}()'s {variable}", content, f"del {name}")


def _is_full(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018  raises where the variable was never bound
    except ValueError:
        return False
    return True
