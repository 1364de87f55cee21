"""What loaders hand out, and samplers and functions keep, is as after one run, or told."""

import pytest

from ipyjaxbench.adapters.torch import loading_states as loading
from ipyjaxbench.frameworks.state import copy_budget
from tests.left import Cell, check_left
from tests.shell import Shell

SETUP = """import torch, numpy as np
from torch.utils.data import DataLoader, Dataset, IterableDataset, Sampler, Subset, TensorDataset
L, items, tensors = [], [[0], [0], [0]], TensorDataset(torch.zeros(4))
def collate(batch):
    for each in batch: each[0] += 1
    return 0
def collate_tensors(batch): batch[0][0].add_(1); return 0
def transform(x): L.append(1); return x
class Own(Dataset):
    def __init__(self): self.x, self.l, self.n, self.transform = np.zeros(4), [], 0, transform
    def __len__(self): return 4
    def __getitem__(self, i): self.x[i] += 1; self.l.append(i); self.n += 1; return transform(i)
class Order(Sampler):
    n = 0
    def __init__(self): self.l = []
    def __len__(self): return 3
    def __iter__(self): self.n += 1; self.l.append(1); return iter(range(3))
class Stream(IterableDataset):
    n = 0
    def __init__(self): self.numbers = iter(range(10**6))
    def __iter__(self):
        self.n += 1
        yield next(self.numbers)
class Map:
    def __init__(self, of, function): self.of, self.function = of, function
    def __iter__(self): return (self.function(each) for each in self.of)
own, order, stream = Own(), Order(), Stream()
def add(x): x[0] += 1; return x
chain = Map(Map(items, add), add)
"""

CELLS = {
    "items": Cell(f"{SETUP}dl = DataLoader(items, 3, collate_fn=collate)", "[*dl]", "items"),
    "in a function": Cell(f"{SETUP}dl = DataLoader(items, 3, collate_fn=collate)\ndef f(): [*dl]",
                          "f()", "items"),
    "tensors": Cell(f"{SETUP}dl = DataLoader(tensors, 2, collate_fn=collate_tensors)", "[*dl]",
                    "tensors.tensors[0].tolist()"),
    "a subset": Cell(
        f"{SETUP}dl = DataLoader(Subset(tensors, [0, 1]), collate_fn=collate_tensors)", "[*dl]",
        "tensors.tensors[0].tolist()"),
    "a dataset of the user's": Cell(f"{SETUP}dl = DataLoader(own, 2)", "[*dl]",
                                    "own.x.tolist(), own.l, own.n, L"),
    "a sampler": Cell(f"{SETUP}dl = DataLoader([1, 2, 3], sampler=order)", "[*dl]",
                      "order.n, order.l"),
    "a stream": Cell(f"{SETUP}dl = DataLoader(stream)", "[*dl]", "stream.n", told="dl"),
    "other loaders": Cell(SETUP, "[*chain]", "items"),
    "an attribute of a loader": Cell(f"{SETUP}dl = DataLoader(items); dl.n = 0", "dl.n += 1",
                                     "dl.n"),
}  # fmt: skip


@pytest.mark.parametrize("name", CELLS)
def test_it_is_as_after_one_run_or_told(shell: Shell, name: str) -> None:
    check_left(shell, CELLS[name])


LARGE = f"""{SETUP}class Held(Dataset):
    def __init__(self):
        self.x, self.y, self.seen, self.n = np.zeros(4), torch.zeros(4), [], 0
        self.few, self.many = [[0]], [[0] for _ in range(60)]
        self.files, self.only_read = [("a", 1)] * 60, np.zeros(4)
        self.only_read.flags.writeable = False
    def __len__(self): return 1
    def __getitem__(self, i): self.seen.append(i); self.n += 1; self.change(); return self.n
    def change(self): pass
held = Held(); dl = DataLoader(held)
def change(code): held.change = eval(f"lambda: {{code}}", {{"self": held}})
"""


@pytest.mark.parametrize(
    ("code", "most", "told", "left"),
    [
        ("0", (8, 99, 99), "", "held.seen, held.n"),
        ("self.x.__iadd__(1)", (8, 99, 99), "state-advanced", "held.seen, held.n"),
        ("self.y.add_(1)", (8, 99, 99), "state-advanced", "held.seen, held.n"),
        ("self.x.__iadd__(1)", (99, 99, 99), "", "held.x.tolist()"),
        ("self.x.__iadd__(1)", (8, 8, 99), "not-all-kept", "held.seen, held.n"),
        ("self.many[1].append(1)", (99, 99, 50), "not-all-kept", "held.seen, held.n"),
        ("self.few[0].append(1)", (99, 99, 50), "not-all-kept", "held.few"),
    ],
)  # fmt: skip
def test_of_large_data_changes_are_told_and_the_rest_is_put_back(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, code: str, most: tuple[int, int, int],
    told: str, left: str,
) -> None:  # fmt: skip
    """What stands beside large data in a dataset is as after one run."""
    monkeypatch.setattr(loading._Data, "data_bytes", most[0])
    monkeypatch.setattr(copy_budget, "_MOST_READ_OF_DATA", most[1])
    monkeypatch.setattr(copy_budget, "_MOST_ITEMS_OF_DATA", most[2])
    once = []
    for line in ("[*dl]", "found = %fwtime -q -o -n3 -r2 [*dl]"):
        shell.run(LARGE)
        shell.run(f"change({code!r})\n{line}")
        once.append(repr(eval(left, shell.names)))
    assert once[0] == once[1]
    notes = {note.code: note.text for note in shell.names["found"].notes}
    assert {*notes} & {"state-advanced", "not-all-kept"} == {told} - {""}
    assert "dl" in notes.get(told, "dl")
