"""What is remembered of tensors, so that each way in which a call changes them is put back."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded
import torch.utils.data

from ipyjaxbench.adapters.torch import Torch
from ipyjaxbench.adapters.torch.state import Tensor
from ipyjaxbench.adapters.torch.storages import Storage
from ipyjaxbench.adapters.torch.tensors import call_with_copies, restore_tensors
from ipyjaxbench.frameworks import CopyBudget, MutableState
from ipyjaxbench.usercode import Call


def states(value: Any, budget: CopyBudget | None = None) -> Sequence[Any] | None:
    return Torch().capability(MutableState).states(value, budget or CopyBudget())


def remembered(value: Any, budget: CopyBudget | None = None) -> list[Any]:
    """What is remembered of it, but for attributes."""
    return [each for each in states(value, budget) or () if isinstance(each, Tensor | Storage)]


def kinds(value: Any, budget: CopyBudget | None = None) -> list[type]:
    return [*map(type, remembered(value, budget))]


@contextmanager
def put_back(value: Any) -> Iterator[list[Any]]:
    """Put back what is changed meanwhile, which has to be noticed."""
    kept = remembered(value)
    assert not any(state.changed() for state in kept)
    yield kept
    for state in kept:
        state.restore()
    assert not kept[0].changed()


@contextmanager
def made(value: Any) -> Iterator[list[Any]]:
    """The same of a call that is made while it is looked at."""
    with restore_tensors([value], is_made=True):
        yield []


@pytest.mark.filterwarnings("ignore")  # of layouts that PyTorch has not settled yet
@pytest.mark.parametrize(("make", "expected"), [
    (lambda: torch.ones(3), [Tensor, Storage]),
    (lambda: torch.eye(3).to_sparse(), [Tensor, Storage, Storage]),
    (lambda: torch.eye(3).to_sparse_csr(), [Tensor, Storage, Storage, Storage]),
    (lambda: torch.eye(3).to_mkldnn(), []),
    (lambda: torch.ones(3, device="meta"), []),
    (lambda: torch.nn.LazyLinear(3).weight, []),
    (lambda: torch.nested.nested_tensor([torch.ones(2)], layout=torch.jagged), []),
])  # fmt: skip
def test_tensors_with_memory_of_their_own_are_remembered(
    make: Callable[[], Any], expected: list[type]
) -> None:
    assert kinds(make()) == expected


def test_memory_that_tensors_share_is_remembered_once_and_that_of_a_transformation_never() -> None:
    seen: list[Any] = []
    torch.func.vmap(lambda row: (seen.append(kinds(row)), row)[1])(torch.ones(2, 3))
    base, budget = torch.ones(4), CopyBudget()
    seen += [kinds(each, budget) for each in (base, base[1:], torch.ones(4))]
    assert seen == [[], [Tensor, Storage], [Tensor], [Tensor, Storage]]


def test_generators_are_remembered_and_what_never_changes_is_not() -> None:
    constants = torch.float32, torch.device("cpu"), torch.Size([2]), torch.strided
    for value in constants:
        assert states(value) == []
        assert states([value]) is None  # it is none of PyTorch's
    generator = torch.Generator().manual_seed(3)
    held, *_ = states(torch.utils.data.DataLoader([1], generator=generator)) or ()
    # What goes with processes is not entered; the order of data is.
    of_torch = (kind for kind in map(type, held.parts) if kind.__module__.startswith("torch"))
    assert {kind.__name__ for kind in of_torch} == {
        "SequentialSampler", "BatchSampler", "Generator",
    }  # fmt: skip
    (state,) = states(generator) or ()
    first = torch.rand(2, generator=generator)
    state.restore()
    assert torch.equal(torch.rand(2, generator=generator), first)


@pytest.mark.parametrize("count", [1, 8, 17])
def test_memory_of_any_length_is_put_back_whole(count: int) -> None:
    numbers = torch.arange(count, dtype=torch.uint8)
    with put_back(numbers) as (_, storage):
        numbers[-1] += 1
        assert storage.changed()
    assert numbers.tolist() == [*range(count)]
    assert not storage.changed()
    with torch.inference_mode():  # such tensors have no counter
        inferred = torch.ones(3)
        with put_back(inferred):
            inferred.add_(1)
        assert inferred.tolist() == [1.0] * 3
    with put_back(numbers) as kept:
        numbers.resize_(60).fill_(9)
        assert all(state.changed() for state in kept)
    assert numbers.tolist() == [*range(count)]


WAYS = [
    lambda w: w.detach().add_(1),
    lambda w: setattr(w, "data", torch.zeros(3)),
    lambda w: setattr(w, "grad", torch.zeros(3)),
    lambda w: setattr(w, "grad", None),
    lambda w: w.requires_grad_(False),
]


@pytest.mark.parametrize("way_back", [put_back, made])
@pytest.mark.parametrize("change", WAYS)
def test_each_way_in_which_a_tensor_changes_is_noticed_and_put_back(
    change: Callable[[Any], object], way_back: Any
) -> None:
    w = torch.ones(3, requires_grad=True)
    w.grad = gradient = torch.full((3,), 2.0)
    before = w.data_ptr(), w._version
    with way_back(w) as kept:
        change(w)
        assert all(state.changed() for state in kept[:1])
    assert (w.tolist(), w.requires_grad) == ([1.0] * 3, True)
    assert w.grad is gradient
    assert (w.data_ptr(), w._version) == before


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
def test_a_result_of_an_operation_has_its_gradient_and_its_numbers_back() -> None:
    leaf, x, y = torch.ones(3, requires_grad=True), torch.ones(3), torch.ones(3)
    inner = leaf * 2
    inner.retain_grad()
    inner.grad = gradient = torch.ones(3)
    parts = [part for each in states(inner) or () for part in each.parts]
    tensors = [part for part in parts if isinstance(part, torch.Tensor)]
    assert [*map(id, tensors)] == [id(gradient), id(leaf)]  # a backward pass adds to both
    with put_back(inner) as (state, *_):
        assert state.parts == [gradient]
        inner.grad = None
        assert state.changed()
    assert inner.grad is gradient
    with made(x):
        x.add_(inner)
    kept = remembered(y)
    y.add_(inner)
    for each in kept:
        each.restore()
    assert x.tolist() == y.tolist() == [1.0] * 3


def test_changes_in_place_are_counted_of_a_tensor_and_of_its_gradient() -> None:
    count = Torch().capability(MutableState).mutation_count
    w = torch.ones(3, requires_grad=True)
    assert count(w) == 0
    w.grad = torch.ones(3)
    assert count(w) == 1
    w.grad.add_(1)
    assert count(w) == 2
    w.detach().add_(1)
    assert count(w) == 3
    assert count(w * 2) == 0
    with torch.inference_mode():
        assert count(torch.ones(3)) is None
    in_place = Torch().capability(MutableState).changes_in_place
    names = ("add_", "add", "__iadd__", "_private_")
    assert [*map(in_place, names)] == [True, False, False, False]


# A call that is made while it is looked at


class Refusing:
    def __deepcopy__(self, memo: Any) -> Any:
        raise RuntimeError("there is one of it")


def test_a_call_of_copies_is_given_the_same_values_and_nothing_of_the_users() -> None:
    parameter, only = torch.nn.Parameter(torch.ones(2)), Refusing()
    inner = parameter * 3
    call = Call("f(...)", max, (inner, parameter, only), {"again": inner, "n": 2}, ("a", "b", "c"))
    copied = call_with_copies(call)
    of_inner, of_parameter, refused = copied.args
    assert of_inner is not inner
    assert of_inner.tolist() == [3.0, 3.0]
    assert (of_inner.requires_grad, of_inner.is_leaf) == (True, True)
    assert copied.kwargs["again"] is of_inner
    assert copied.kwargs["n"] == 2
    assert of_parameter is not parameter
    assert isinstance(of_parameter, torch.nn.Parameter)
    assert refused is only  # it allows no copy
    of_inner.data.zero_()
    assert inner.tolist() == [3.0, 3.0]


def test_a_method_is_called_on_a_copy_of_its_object_and_a_module_as_a_copy() -> None:
    class Scaled:
        scale: Any

        def apply(self, x: Any) -> Any:
            self.scale.add_(1)
            return x * self.scale

    owner, net, x = Scaled(), torch.nn.Linear(2, 2), torch.ones(2)
    owner.scale = scale = torch.ones(2)
    copied = call_with_copies(Call("f(x)", owner.apply, (x,), {}, ("x",)))
    assert copied.function(x).tolist() == [2.0, 2.0]
    assert scale.tolist() == [1.0, 1.0]
    again = call_with_copies(Call("f(x)", net, (x,), {}, ("x",)))
    assert again.function is not net
    assert torch.equal(again.function.weight, net.weight)


def test_of_a_call_that_is_only_traced_autograd_alone_is_put_back() -> None:
    w = torch.ones(3, requires_grad=True)
    with restore_tensors([w], is_made=False):
        w.requires_grad_(False)
        w.data.add_(1)
    assert w.requires_grad
    assert w.tolist() == [2.0] * 3
