"""Hooks that timed code registers are as after one run of it, wherever PyTorch keeps them."""

from collections import OrderedDict

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded

from ipyjaxbench.adapters.torch import hook_tables
from ipyjaxbench.adapters.torch.hooks import NewHooks
from tests.left import Cell, check_left
from tests.shell import Shell

SETUP = """import torch
from torch.nn.modules import module as module_hooks
from torch.optim.optimizer import register_optimizer_step_post_hook
L = []
def add(name): return lambda *a: L.append(name)
w = torch.ones(3, requires_grad=True)
y = (w * 2).sum(); node = y.grad_fn; deep = node.next_functions[0][0]
acc = deep.next_functions[0][0]
m = torch.nn.Linear(3, 1); x = torch.ones(1, 3, requires_grad=True)
opt = torch.optim.SGD(m.parameters(), 0.0)
def called(run):
    L.clear(); run(); return sorted(L)
def back(): y.backward(retain_graph=True)
def train(): m(x).sum().backward(); opt.step(); m.state_dict(); m.load_state_dict(m.state_dict())
class O:
    def __init__(self, held): self.held = held
o = O(node); t = torch.ones(3, requires_grad=True)
def register(): o.held.register_hook(add("in a function"))
saved = torch.autograd.graph.saved_tensors_hooks"""
BACK, TRAIN = "called(back)", "called(train)"


def _registered(*names: str, owner: str = "") -> str:
    """Code that registers a hook with each of these functions, which tells the name when called."""
    return ", ".join(f"{owner}{name}(add('{name}'))" for name in names)


CELLS = {
    "of nodes and tensors": Cell(
        SETUP,
        _registered("node.register_hook", "node.register_prehook", "deep.register_hook",
                    "acc.register_hook", "acc.register_prehook", "w.register_hook",
                    "w.register_post_accumulate_grad_hook", "y.grad_fn.register_hook")
        + ", register(), node.register_hook(lambda *a: L.append('a lambda of the code'))", BACK),
    "of several tensors": Cell(
        SETUP, "torch.autograd.graph.register_multi_grad_hook([w, t], add(1), mode='any')", BACK),
    "of modules and optimizers": Cell(
        SETUP,
        _registered("m.register_forward_hook", "m.register_forward_pre_hook",
                    "m.register_full_backward_hook", "m.register_state_dict_pre_hook",
                    "m._register_state_dict_hook", "m.register_load_state_dict_post_hook",
                    "opt.register_step_post_hook")
        + ", m.register_forward_hook(add('with its arguments'), with_kwargs=True)",
        f"{TRAIN}, len(m._forward_hooks_with_kwargs)"),
    "of all of them": Cell(
        SETUP,
        _registered("register_module_forward_hook", "register_module_full_backward_hook",
                    "register_module_forward_pre_hook", owner="module_hooks.")
        + ", " + _registered("register_optimizer_step_post_hook"), TRAIN,
        "[t.clear() for n, t in vars(module_hooks).items() if n.startswith('_global_')"
        " and hasattr(t, 'clear')]; "
        "register_optimizer_step_post_hook.__globals__['_global_optimizer_post_hooks'].clear()"),
    # Each alone: what one of them adds to is put back where another one leads to it.
    **{f"what one does: {hook}": Cell(f"{SETUP}\nh = {hook}(add(1))", code, "len(L)")
       for hook, code in (("deep.register_hook", "back()"), ("acc.register_hook", "back()"),
                          ("m.register_forward_hook", "m(x)"))},
    "of saved tensors": Cell(SETUP, "saved(lambda t: (L.append(1), t)[1], lambda t: t).__enter__()",
                             "called(lambda: w * w)",
                             "torch._C._autograd._pop_saved_tensors_default_hooks()"),
    "metadata": Cell(f"{SETUP}\nnode.metadata['n'] = 0", "node.metadata['n'] += 1",
                     "node.metadata['n']"),
    "metadata of a node below": Cell(f"{SETUP}\ndeep.metadata['n'] = 0\ndel deep",
                                     "y.grad_fn.next_functions[0][0].metadata['n'] += 1",
                                     "node.next_functions[0][0].metadata['n']"),
    "metadata of a node after very many": Cell(
        f"{SETUP}\nfor _ in range(1500): y = y + 1\ndef below(node):\n"
        "    while node.next_functions: node = node.next_functions[0][0]\n    return node\n"
        "below(y.grad_fn).metadata['n'] = 0", "below(y.grad_fn).metadata['n'] += 1",
        "below(y.grad_fn).metadata['n']"),
    "of those that come and go": Cell(SETUP, "node.register_hook(add(1)).remove()", BACK),
}  # fmt: skip


@pytest.mark.parametrize("name", CELLS)
def test_it_is_as_after_one_run(shell: Shell, name: str) -> None:
    check_left(shell, CELLS[name])


def test_dictionaries_of_the_users_by_number_are_left_alone() -> None:
    state = NewHooks()
    own = [OrderedDict(dict.fromkeys(range(state._before, state._before + 9), print))]
    tensor = torch.ones(3, requires_grad=True)
    tensor.register_hook(print)
    assert state.changed()
    state.restore()
    assert (len(own[0]), len(tensor._backward_hooks or ())) == (9, 0)
    assert not state.changed()


@pytest.mark.parametrize(
    ("code", "searches"),
    [("h = m.register_forward_hook(add(1))", 0), ("h = w.register_hook(add(1))", 0), ("w * 2", 0),
     ("m.register_forward_pre_hook(add(1), prepend=True)", 0),
     ("z = w * 2; z.register_hook(add(1))", 0), ("node.register_hook(add(1))", 1),
     ("h = m[0].register_full_backward_hook(add(1)); h.remove()", 0),
     ("node.register_hook(add(1)).remove()", 1)],
)  # fmt: skip
def test_hooks_of_what_the_code_reaches_are_not_searched_for(
    shell: Shell, code: str, searches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To look through all objects that there are takes tens of milliseconds."""
    shell.run(f"{SETUP}\nm = torch.nn.Sequential(m)")
    hook_tables.hooks_of_nodes()  # those of other tests
    searched, search = list[int](), hook_tables._search
    monkeypatch.setattr(hook_tables, "_search", lambda n: (searched.append(n), search(n)))
    shell.run(f"found = %fwtime -q -n3 -r2 {code}")
    assert len(searched) == searches
    assert "state-advanced" not in {note.code for note in shell.names["found"].notes}


def test_arms_of_a_comparison_leave_their_hooks(shell: Shell) -> None:
    shell.run(SETUP)
    shell.run(
        "%%fwcompare -q -n2 -r2\na: m.register_forward_hook(add(1))\nb: node.register_hook(add(1))"
    )
    shell.run("calls = (called(train), called(back))")
    assert shell.names["calls"] == ([1], [1])
