"""What code copies of PyTorch's tensors, as far as a machine without a GPU shows it."""

import sys
from traceback import walk_tb
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import torch._dynamo.callback
from torch._dynamo.eval_frame import _debug_get_cache_entry_list as entries

import ipyjaxbench
from ipyjaxbench import Transfers
from ipyjaxbench.adapters.torch import transfers
from ipyjaxbench.device.watch_transfers import transfer_code
from ipyjaxbench.usercode.snippet import Source


def ran(code: str, **names: Any) -> Transfers:
    found, error = transfer_code(Source.plain(code), {"torch": torch, "np": np, **names})
    assert error is None
    return found


def rows(found: Transfers) -> list[tuple[str, str, int, bool, str]]:
    return [(t.text, t.direction, t.copied, t.asked, t.free) for t in found.transfers]


def test_the_host_reads_tensors_of_the_cpu_in_place() -> None:
    t = torch.ones(10, 10)
    unmoved = "t.to(torch.float64)\nt.to('cpu')\nt.to('meta')\nt.clone().copy_(t)\n"
    code = "t.numpy()\nt[0, 0].item()\nnp.asarray(t)\nt.tolist()\nif t.sum() > 0:\n    t.cpu()"
    assert rows(ran(unmoved + code, t=t)) == [
        ("t.numpy()", "to the host", 0, True, "shares memory"),
        ("t[0, 0].item()", "to the host", 0, True, "shares memory"),
        ("np.asarray(t)", "to the host", 0, True, "shares memory"),
        ("t.tolist()", "to the host", 0, True, "shares memory"),
        ("t.sum() > 0", "to the host", 0, False, "shares memory"),
        ("t.cpu()", "between devices", 0, True, "shares memory"),
    ]


def test_tensors_made_of_numpy_arrays_are_copies_or_share() -> None:
    n = np.ones((10, 10), np.float32)
    found = ran("torch.from_numpy(n)\ntorch.as_tensor(n)\ntorch.tensor(n)", n=n)
    assert all((t.seconds or 0) > 0 for t in found.transfers)
    assert all(t.waited == 0 for t in found.transfers)
    assert rows(found) == [
        ("torch.from_numpy(n)", "to devices", 0, True, "shares memory"),
        ("torch.as_tensor(n)", "to devices", 0, True, "shares memory"),
        ("torch.tensor(n)", "to devices", 400, True, ""),
    ]


def test_the_code_gets_what_it_made_and_moved() -> None:
    n, t, kept = np.ones(3, np.float32), torch.ones(3), list[Any]()
    made = "torch.from_numpy(n), torch.as_tensor(n), torch.tensor(n)"
    ran(f"kept += [{made}, t.to('cpu'), t.numpy(), t.tolist(), t[0].item()]", n=n, t=t, kept=kept)
    assert [np.sum(each).item() for each in map(np.asarray, kept)] == [3.0] * 6 + [1.0]


def test_a_copy_is_timed_when_the_devices_in_use_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    xla = SimpleNamespace(sync=lambda *, wait: done.append(code))
    monkeypatch.setitem(sys.modules, "torch_xla", xla)
    for code in ("t.cpu()", "t.sum()"):
        ran(code, t=torch.ones(3))
    assert done.count("t.cpu()") == done.count("t.sum()") + 2  # before it and after it


@pytest.mark.parametrize("fail", [lambda t: t.item(), lambda t: t.to("nowhere")])
def test_frames_of_the_watch_are_hidden_in_errors_of_the_users(fail: Any) -> None:
    with pytest.raises(RuntimeError) as caught, ipyjaxbench.transfers():
        fail(torch.ones(2))
    frames = [frame for frame, _ in walk_tb(caught.value.__traceback__)]
    (ours,) = (each for each in frames if each.f_code.co_filename == transfers.__file__)
    assert ours.f_locals["__tracebackhide__"]


def test_memory_that_is_pinned_is_a_place_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.Tensor, "is_pinned", lambda self: self.numel() == 2)
    assert transfers._place(torch.ones(2)) == "cpu"
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    assert transfers._place(torch.ones(2)) == "cpu pinned"
    assert transfers._place(torch.ones(3)) == "cpu"


def test_compiled_functions_stay_compiled_and_are_compiled_as_ever() -> None:
    def old(a: Any) -> Any:
        return a.cpu().sin()

    def new(a: Any) -> Any:
        return a.cpu().cos()

    def backend(graph: Any, _: object) -> Any:
        graphs.append(str(graph.graph))
        return graph.forward

    t, graphs, code = torch.ones(3), [], old.__code__
    compiled = torch.compile(old, backend=backend)
    compiled(t)
    found = ran("compiled(t)\nagain = torch.compile(new, backend=backend)\nagain(t)",
                compiled=compiled, new=new, backend=backend, t=t)  # fmt: skip
    compiled(t)
    torch.compile(new, backend=backend)(t)
    assert found.error == ""
    assert (len(entries(old.__code__)), old.__code__ is code) == (1, True)
    assert len(graphs) == 2  # one each: what was compiled meanwhile is what is used later
    assert "cpu" in graphs[1]


def helper(a: Any) -> Any:
    return torch.sin(a)


def test_functions_of_the_cell_and_those_that_they_use_can_be_compiled() -> None:
    code = (
        "def f(a):\n    return helper(a) + 1\n"
        "y = torch.compile(f, backend='eager', fullgraph=True)(t)\n"
        "z = torch.compile(lambda a: a * 2, backend='eager', fullgraph=True)(t)\n"
    )
    found = ran(code, t=torch.ones(3), helper=helper)
    assert any("functions that this cell defines" in words for words in found.unseen)


def test_what_a_class_of_its_own_gives_is_passed_on() -> None:
    class Own(torch.Tensor):
        """A class of the user's."""

    names: dict[str, Any] = {"m": torch.ones(1).as_subclass(Own)}
    found, error = transfer_code(Source.plain("y = m.cpu()\nz = m.item()"), names)
    assert error is None
    assert (type(names["y"]), names["z"], found.transfers) == (Own, 1.0, ())


def test_methods_and_callbacks_are_the_old_ones_afterwards() -> None:
    handler = torch._dynamo.callback.callback_handler

    def now() -> list[Any]:
        methods = [vars(torch.Tensor).get(name) for name in ("cpu", "to", "item", "__bool__")]
        return [*methods, [*handler.start_callbacks], [*handler.end_callbacks]]

    before = now()
    with ipyjaxbench.transfers() as t:
        assert torch.Tensor.cpu is not torch._C.TensorBase.cpu
        torch.ones(3).sum().item()
    assert now() == before
    assert [each.text for each in t.transfers.transfers] == ["torch.ones(3).sum().item()"]
