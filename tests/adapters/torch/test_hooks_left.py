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
w = torch.ones(3, requires_grad=True)
y = (w * 2).sum(); node = y.grad_fn; deep = node.next_functions[0][0]; add = lambda *a: L.append(1)
acc = deep.next_functions[0][0]
m = torch.nn.Linear(3, 1); x = torch.ones(1, 3, requires_grad=True)
opt = torch.optim.SGD(m.parameters(), 0.0)
def clear(): L.clear()
def calls(run):
    clear(); run(); return len(L)
def back(): y.backward(retain_graph=True)
def train(): m(x).sum().backward(); opt.step(); m.state_dict(); m.load_state_dict(m.state_dict())
class O:
    def __init__(self, held): self.held = held
o = O(node); t = torch.ones(3, requires_grad=True)
def register(): o.held.register_hook(add)
saved = torch.autograd.graph.saved_tensors_hooks"""
BACK, TRAIN = "calls(back)", "calls(train)"
KEPT = "h = {0}(add)\n"

CELLS = {
    **{code: Cell(SETUP, f"{code}(add)", BACK)
       for code in ("node.register_hook", "node.register_prehook", "deep.register_hook",
                    "acc.register_hook", "acc.register_prehook", "w.register_hook",
                    "w.register_post_accumulate_grad_hook", "y.grad_fn.register_hook")},
    "in a function": Cell(SETUP, "register()", BACK),
    "a lambda of the code": Cell(SETUP, "node.register_hook(lambda *a: L.append(1))", BACK),
    **{f"m.{name}": Cell(SETUP, f"m.{name}(add)", TRAIN)
       for name in ("register_forward_hook", "register_forward_pre_hook",
                    "register_full_backward_hook", "register_state_dict_pre_hook",
                    "_register_state_dict_hook", "register_load_state_dict_post_hook")},
    "with its arguments": Cell(SETUP, "m.register_forward_hook(add, with_kwargs=True)",
                               f"{TRAIN}, len(m._forward_hooks_with_kwargs)"),
    **{name: Cell(SETUP, f"module_hooks.{name}(add)", TRAIN,
                  "[t.clear() for n, t in vars(module_hooks).items() if n.startswith('_global_')"
                  " and hasattr(t, 'clear')]")
       for name in ("register_module_forward_hook", "register_module_full_backward_hook",
                    "register_module_forward_pre_hook")},
    "opt.register_step_post_hook": Cell(SETUP, "opt.register_step_post_hook(add)", TRAIN),
    "of all optimizers": Cell(SETUP, "register_optimizer_step_post_hook(add)", TRAIN,
                              "register_optimizer_step_post_hook.__globals__["
                              "'_global_optimizer_post_hooks'].clear()"),
    "several tensors": Cell(
        SETUP, "torch.autograd.graph.register_multi_grad_hook([w, t], add, mode='any')", BACK),
    "what one of a node does": Cell(f"{SETUP}\nh = deep.register_hook(add)", "back()", "len(L)"),
    "of an accumulator": Cell(f"{SETUP}\nh = acc.register_hook(add)", "back()", "len(L)"),
    "what one of a module does": Cell(f"{SETUP}\nh = m.register_forward_hook(add)", "m(x)",
                                      "len(L)"),
    "of saved tensors": Cell(SETUP, "saved(lambda t: (L.append(1), t)[1], lambda t: t).__enter__()",
                             "calls(lambda: w * w)",
                             "torch._C._autograd._pop_saved_tensors_default_hooks()"),
    "metadata": Cell(f"{SETUP}\nnode.metadata['n'] = 0", "node.metadata['n'] += 1",
                     "node.metadata['n']"),
    "metadata of a node below": Cell(f"{SETUP}\ndeep.metadata['n'] = 0\ndel deep",
                                     "y.grad_fn.next_functions[0][0].metadata['n'] += 1",
                                     "node.next_functions[0][0].metadata['n']"),
    "a hook of those that come and go": Cell(SETUP, "node.register_hook(add).remove()", BACK),
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
    [("h = m.register_forward_hook(add)", 0), ("h = w.register_hook(add)", 0), ("w * 2", 0),
     ("m.register_forward_pre_hook(add, prepend=True)", 0), ("z = w * 2; z.register_hook(add)", 0),
     ("h = m[0].register_full_backward_hook(add); h.remove()", 0), ("node.register_hook(add)", 1),
     ("node.register_hook(add).remove()", 1)],
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
    shell.run("%%fwcompare -q -n2 -r2\na: m.register_forward_hook(add)\nb: node.register_hook(add)")
    shell.run("calls = (calls(train), calls(back))")
    assert shell.names["calls"] == (1, 1)
