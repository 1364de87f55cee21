"""Where PyTorch's tensors live: views, layouts, DTensors, modules, optimisers, devices."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded
import torch.distributed
from torch._subclasses import FakeTensorMode
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.distributed.tensor.placement_types import _StridedShard
from torch.testing._internal.distributed.fake_pg import FakeStore

import ipyjaxbench
from ipyjaxbench.adapters.torch import Torch
from ipyjaxbench.device.locate import locate, survey
from ipyjaxbench.device.protocol import ArrayInspector
from ipyjaxbench.device.whereabouts import ArrayPlacement


def placement_of(tensor: object) -> ArrayPlacement:
    (found,) = locate({"t": tensor}).arrays
    return found


def test_a_view_shares_the_memory_of_its_base_in_whichever_order_they_are_named() -> None:
    base = torch.ones(4, 6)
    for names in ({"x": base, "part": base[:2]}, {"part": base[:2], "x": base}):
        found = locate(names)
        assert {each.name: each.of for each in found.arrays} == {"x": "", "part": "x"}
        assert found.by_device() == {"cpu": (1, 96)}
    assert "shares memory with x, view of 96 B" in str(found)
    array = np.ones((3, 4))
    found = locate({"a": array, "b": array[1:], "t": torch.from_numpy(array)})
    assert [each.of for each in found.arrays] == ["", "a", "a"]


def _fake() -> object:
    with FakeTensorMode():
        return torch.ones(3)


@pytest.mark.filterwarnings("ignore")  # of layouts that PyTorch has not settled yet
@pytest.mark.parametrize(
    ("make", "shape", "nbytes", "layout"),
    [
        (lambda: torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last), (2, 3, 4, 5), 480,
         "channels last"),
        (lambda: torch.ones(100)[3:5], (2,), 8, "view of 400 B"),
        (lambda: torch.ones(1).expand(1000), (1000,), 4, "broadcast along axis 0"),
        (lambda: torch.eye(3).to_sparse(), (3, 3), 3 * 2 * 8 + 3 * 4,
         "sparse coo, 3 nonzeros stored"),
        (lambda: torch.eye(3).to_sparse_csr(), (3, 3), 4 * 8 + 3 * 8 + 3 * 4,
         "sparse csr, 3 nonzeros stored"),
        (lambda: torch.quantize_per_tensor(torch.ones(4), 0.1, 0, torch.qint8), (4,), 4,
         "quantised"),
        (lambda: torch.ones(2, device="meta"), (2,), 0,
         "shape only (meta or fake), would take 8 B"),
        (lambda: torch.ones(3, dtype=torch.complex64).conj(), (3,), 24,
         "conjugated when it is read"),
        (lambda: torch.nn.LazyLinear(3).weight, (-1,), 0,
         "uninitialized until the first call of its module"),
        (lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged),
         (2, -1), 20, "NestedTensor, jagged"),
        (lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.strided),
         (2, -1), 20, ""),
        (_fake, (3,), 0, "FakeTensor, shape only (meta or fake), would take 12 B"),
        (lambda: torch.ones(2, 2).to_mkldnn(), (2, 2), 16, "mkldnn"),
    ],
)  # fmt: skip
def test_each_kind_of_tensor_is_told_with_what_it_takes(
    make: Any, shape: tuple[int, ...], nbytes: int, layout: str
) -> None:
    tensor = make()
    found, weight = placement_of(tensor), Torch().capability(ArrayInspector).weight(tensor)
    assert (found.shape, found.nbytes, found.layout) == (shape, nbytes, layout)
    assert weight.devices == found.devices
    if tensor.layout is not torch.strided:  # of others numbers that are repeated count each time
        assert weight.nbytes == nbytes


@pytest.mark.filterwarnings("ignore")
def test_numbers_are_given_to_numpy_as_a_copy_without_graph() -> None:
    to_numpy = Torch().capability(ArrayInspector).to_numpy
    assert to_numpy(torch.ones(2, requires_grad=True) * 2).tolist() == [2.0, 2.0]
    assert to_numpy(torch.ones(2, dtype=torch.complex64).conj() * 1j).tolist() == [1j, 1j]
    halves = to_numpy(torch.full((2,), 0.5, dtype=torch.bfloat16))
    assert (halves.dtype, halves.tolist()) == (np.float32, [0.5, 0.5])
    assert to_numpy(torch.ones(2, dtype=torch.float16)).dtype == np.float16
    assert to_numpy(torch.ones(2, device="meta")) is None
    assert to_numpy(torch.eye(2).to_sparse()) is None


def test_no_code_of_a_subclass_runs() -> None:
    class Mine(torch.Tensor):
        @classmethod
        def __torch_function__(cls, *args: Any, **kwargs: Any) -> Any:
            raise AssertionError

    mine = torch.Tensor._make_subclass(Mine, torch.ones(3))
    found = placement_of(mine)
    assert (found.shape, found.layout) == ((3,), "Mine")
    with ipyjaxbench.transfers():
        pass
    ipyjaxbench.measure_code("x", {"x": mine}, number=1, repeat=2)


def test_what_autograd_records_is_told_and_looking_is_not_recorded() -> None:
    parameter = torch.nn.Parameter(torch.ones(3))
    told = [placement_of(t).gradients for t in (parameter, parameter * 2, torch.ones(3))]
    assert (told, parameter._version) == ([True, True, False], 0)


def test_a_module_is_told_by_dotted_names_with_tensors_that_it_does_not_know() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3, affine=False))
    net[0].mask = torch.ones(3)
    names = [each.name.removeprefix("net.") for each in locate({"net": net}).arrays]
    buffers = ["1.running_mean", "1.running_var", "1.num_batches_tracked"]
    assert names == ["0.weight", "0.bias", *buffers, "0.mask"]


@pytest.mark.parametrize("named", [True, False])
def test_the_state_of_an_optimiser_is_told_by_parameters(named: bool) -> None:
    net = torch.nn.Linear(3, 2)
    net(torch.ones(1, 3)).sum().backward()
    optimizer = torch.optim.Adam(net.named_parameters() if named else net.parameters())
    optimizer.step()
    names = [each.name for each in locate({"o": optimizer}).arrays]
    which = ("weight", "bias") if named else ("0", "1")
    found = survey({"net": net, "o": torch.optim.SGD(net.parameters()), "w": net.weight}).arrays
    assert sum(each.nbytes for each in found if not each.of) == 4 * (3 * 2 + 2)
    assert next(each.of for each in found if each.name == "w") == "net"
    assert names[:2] == ["o.param_groups[0]['params'][0]", "o.param_groups[0]['params'][1]"]
    assert names[2:] == [
        f"o.state.{each}.{key}" for each in which for key in ("step", "exp_avg", "exp_avg_sq")
    ]


# Sharding


@pytest.fixture
def mesh() -> Iterator[Any]:
    store = torch.distributed.HashStore()
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    yield init_device_mesh("cpu", (1,), mesh_dim_names=("data",))
    torch.distributed.destroy_process_group()


def test_a_mesh_is_no_array(mesh: Any) -> None:
    (found,) = locate({"mesh": mesh}).arrays
    assert (found.framework, found.layout) == ("", "a mesh of 1 process: 'data' (1)")
    assert survey({"mesh": mesh}).arrays == ()
    (found,) = locate({"mesh": init_device_mesh("cpu", (1,))}).arrays
    assert found.layout == "a mesh of 1 process: 'axis 0' (1)"


def test_a_dtensor_is_told_on_the_one_process_that_there_is(mesh: Any) -> None:
    tensor = distribute_tensor(torch.ones(4, 2), mesh, [Shard(0)])
    found = placement_of(tensor)
    assert found.sharding is not None
    assert found.sharding.describe() == "on one device"
    assert (found.devices, found.nbytes, found.layout) == (("cpu",), 32, "")
    assert "placements=(Shard(dim=0),)" in str(locate({"t": tensor}))
    assert "rank" not in str(locate({"t": tensor}))
    assert survey({"t": tensor}).arrays[0].nbytes == 32
    both = locate({"t": tensor, "part": tensor.to_local()})
    assert [each.of for each in both.arrays] == ["", "t"]


def test_placements_that_are_not_known_are_told_in_pytorchs_words(mesh: Any) -> None:
    cut = [_StridedShard(0, split_factor=2)]
    found = placement_of(DTensor.from_local(torch.ones(4), mesh, cut))
    assert found.sharding is None
    assert found.layout.startswith("DTensor, placements=(_StridedShard(dim=0")


@pytest.fixture(params=[0, 3])
def rank(request: pytest.FixtureRequest) -> Iterator[int]:
    """One process of eight, as far as PyTorch knows."""
    start = torch.distributed.init_process_group
    start("fake", rank=request.param, world_size=8, store=FakeStore())
    yield request.param
    torch.distributed.destroy_process_group()


@pytest.mark.filterwarnings("ignore")
def test_the_parts_told_are_those_that_each_of_eight_processes_has(rank: int) -> None:
    whole, kinds = torch.arange(60.0).reshape(10, 6), (Shard(0), Shard(1), Replicate())
    mesh = init_device_mesh("cpu", (4, 2), mesh_dim_names=("data", "model"))
    tensors: dict[str, Any] = {
        str(pair): distribute_tensor(whole, mesh, [*pair], src_data_rank=None)
        for pair in itertools.product(kinds, kinds)
    }
    expected = dict.fromkeys(tensors, whole)
    net = torch.nn.Sequential(torch.nn.Linear(8, 18), torch.nn.Linear(18, 8))
    expected |= {f"net.{name}": p.detach().clone() for name, p in net.named_parameters()}
    plan = {"0": ColwiseParallel(), "1": RowwiseParallel()}
    parallelize_module(net, mesh["model"], plan, src_data_rank=None)
    fully_shard(net, mesh=mesh["data"])
    arrays = locate({"net": net, **tensors}).arrays
    tensors |= {f"net.{name}": p for name, p in net.named_parameters()}
    for each in arrays:
        assert each.sharding is not None
        (mine,) = (s.region for s in each.sharding.shards if s.device == "cpu")
        part = expected[each.name][tuple(slice(*cut) for cut in mine)]
        assert torch.equal(part, tensors[each.name].to_local())
    assert len(arrays) == 13
    if rank != 3:
        return
    summed = DTensor.from_local(torch.ones(3), mesh, [Partial(), Replicate()])
    rows = tensors[str((Shard(0), Replicate()))]
    told = locate({"rows": rows, "w": net[0].weight, "summed": summed}), locate({"rows": rows})
    text = " ".join("\n".join(map(str, told)).split())
    for words in (
        "rank:0-7, rows sharded over 'data' (4), replicated over 'model' (2), 72 B in this rank",
        "rows sharded over 'model' and 'data' (8)",  # FSDP after tensor parallelism
        "partial sum over 'data' (4), replicated over 'model' (2)",
        "rows 0-2 │ rank:0,1 │",
        "| rank:6,7 | row 9 | no rows | partial result |",
        "placements=(Shard(dim=0), Replicate())",
    ):
        assert words in text
