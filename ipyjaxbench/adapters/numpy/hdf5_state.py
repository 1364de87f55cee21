"""What calls change in files of h5py that are open for writing: numbers, attributes, members."""

from itertools import islice
from typing import Any

import h5py

from ipyjaxbench.frameworks import (
    CopiedState,
    CopyBudget,
    Holder,
    Setting,
    State,
    TooLarge,
    added_states,
)

_MOST = 1000  # members of a group, and attributes
_MOST_BYTES = 16 * 2**20  # of a dataset, which is read from the disk


class Numbers(CopiedState):
    """The numbers of a dataset; they are as many as before, or it is told."""

    def __init__(self, dataset: Any, budget: CopyBudget) -> None:
        super().__init__(dataset, budget, int(dataset.nbytes))

    def _take(self, target: Any) -> bool:
        return self.nbytes <= _MOST_BYTES and super()._take(target)

    def _may_read(self) -> bool:
        return self.nbytes <= _MOST_BYTES

    def _copy(self) -> Any:
        return self._target[()]

    def _digest(self) -> int:
        return hash(_shown(self._target[()]))

    def _differs(self) -> bool:
        return bool(_shown(self._target[()]) != _shown(self._before))

    def restore(self) -> None:
        """Write the old ones."""
        shape = getattr(self._before, "shape", ())
        if self._target.shape != shape:
            self._target.resize(shape)
        self._target[()] = self._before


class Attributes(State):
    """The attributes of a dataset or a group."""

    def _read(self) -> dict[str, Any]:
        return dict(islice(self._target.attrs.items(), _MOST))

    def changed(self) -> bool:
        """Whether one has another value, or came or went."""
        now = self._read()
        return now.keys() != self._before.keys() or bool(self._others(now))

    def restore(self) -> None:
        """Set the old ones."""
        now, attributes = self._read(), self._target.attrs
        for name in now.keys() - self._before.keys():
            del attributes[name]
        for name in self._others(now):
            attributes[name] = self._before[name]

    def _others(self, now: dict[str, Any]) -> list[str]:
        before = self._before.items()
        return [n for n, old in before if n not in now or _shown(now[n]) != _shown(old)]


def states(value: Any, budget: CopyBudget) -> list[State] | None:
    """Return what calls can change of a file, a group or a dataset; None of other values."""
    if not issubclass(type(value), h5py.Group | h5py.Dataset):
        return None
    own: list[State] = [*added_states(value)]
    if not value or value.file.mode == "r" or not budget.is_new(value, ("h5py", hash(value.id))):
        return own
    if issubclass(type(value), h5py.Dataset):
        return [*own, Numbers(value, budget), Attributes(value)] if value.shape is not None else own
    several = len(value) > _MOST or len(value.attrs) > _MOST
    rest: list[State] = [TooLarge(value)] if several else []
    held = Holder(value, _held(value, budget))
    return [*own, _members(value), held, Attributes(value), *rest]


def _members(group: Any) -> Setting:
    def write(names: list[str]) -> None:
        if not group.keys() >= set(names):
            raise KeyError(*names)  # what was taken away does not come back: that is told
        for name in group.keys() - set(names):
            del group[name]

    return Setting(lambda: sorted(islice(group.keys(), _MOST)), write)


def _held(group: Any, budget: CopyBudget) -> list[Any]:
    """Return what is in a group itself; links may lead to other files."""
    links = ((name, group.get(name, getlink=True)) for name in islice(group.keys(), _MOST))
    own = (name for name, link in links if type(link) is h5py.HardLink)
    return [group[name] for name in own if budget.may_look()]


def _shown(value: Any) -> Any:
    """Return what differs where numbers or texts do."""
    if not hasattr(value, "tolist"):
        return repr(value)
    return repr(value.tolist()) if value.dtype.hasobject else (value.shape, value.tobytes())
