"""What a call changes outside of itself is put back once it was looked at."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from ipyjaxbench.adapters.torch import tensors, trees
from ipyjaxbench.adapters.torch.graphs.reachable import Reach
from ipyjaxbench.graphs import notes as notes
from ipyjaxbench.reports.note import Note
from ipyjaxbench.usercode.call import Call
from ipyjaxbench.usercode.objects import attributes, is_of


class Kept:
    """What a call can reach, as it is now.

    Args:
        call: its function and arguments lead there.

    Attributes:
        tensors: all of them.
        notes: what was put back of what the code keeps; filled by `put_back`.
    """

    def __init__(self, call: Call) -> None:
        reached = Reach(call)
        self.tensors = reached.tensors
        self.notes: list[Note] = []
        self._places = reached.places

    def put_back(self) -> None:
        """Undo what happened to names, attributes and containers since."""
        done: dict[str, bool] = {}
        for place in self._places:
            for change in list(place.values.changes()):
                keeps = any(map(_has_fake, change.came))
                try:
                    change.undo()
                except Exception:  # noqa: BLE001  an object of the user's may refuse anything
                    done[change.name] = False
                else:
                    if keeps and place.is_told:
                        done.setdefault(change.name, True)
        for put_back in (True, False):
            if named := [name for name, done in done.items() if done is put_back]:
                self.notes.append(notes.tracer_kept(named, put_back=put_back))


@contextmanager
def put_back(call: Call, *, is_made: bool) -> Iterator[Kept]:
    """All that a call can reach is afterwards as it was.

    Args:
        call: it is made or traced inside of this.
        is_made: whether it writes to tensors, all of which are copied then.
    """
    kept = Kept(call)
    with tensors.put_back(kept.tensors, is_made=is_made):
        try:
            yield kept
        finally:
            kept.put_back()


def _has_fake(value: Any) -> bool:
    """Whether a value is a tensor without data, or holds one; objects are looked into."""
    leaves = trees.leaves(value)
    held = [attributes(leaf) for leaf in leaves if not is_of(leaf, type)]
    return any(map(_is_fake, (*leaves, *trees.leaves(held))))


def _is_fake(value: Any) -> bool:
    from torch._subclasses.fake_tensor import is_fake

    return is_of(value, torch.Tensor) and (
        is_fake(value) or torch._C._functorch.is_functorch_wrapped_tensor(value)
    )
