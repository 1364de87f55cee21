"""What loaders hand out, and samplers and functions keep, is as after one run, or told."""

import pytest
import torch._dynamo  # changes the environment when it is loaded

from ipyjaxbench.adapters.torch import loading_states as loading
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


@pytest.mark.parametrize(
    ("data", "is_large"),
    [([[0]] * 9, False), ([0] * 30_000, True), ({"a": (torch.empty(2**30, device="meta"),)}, True),
     (torch.utils.data.TensorDataset(torch.empty(2**30, device="meta")), True), (print, False)],
)  # fmt: skip
def test_large_data_are_not_copied(data: object, *, is_large: bool) -> None:
    assert loading._is_large(data) is is_large
