"""What calls change of PyTorch's is as after one run, bit for bit, or told by name."""

from typing import Any

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded

import ipyjaxbench
from ipyjaxbench.adapters.torch.tensors import restore_tensors, sparse_parts
from ipyjaxbench.frameworks import Checkpoint, loaded
from tests.left import Cell, check_left
from tests.shell import Shell

LEAF = "import torch; x = torch.ones(3, requires_grad=True); L = []"
TF32 = "torch.backends.cuda.matmul.fp32_precision, torch.backends.mkldnn.matmul.fp32_precision"
#: `none`: as at first; the older functions set the newer attributes.
PRECISE = (
    "torch.set_float32_matmul_precision('highest'); "
    "torch.backends.cuda.matmul.fp32_precision = 'none'; "
    "torch.backends.mkldnn.matmul.fp32_precision = 'none'"
)
TRACED = """import torch, torch.fx
class N(torch.nn.Module):
    def forward(self, x):
        for _ in range(9): x = abs(x)
        return x
g = torch.fx.symbolic_trace(N())
def erase():
    node = [*g.graph.nodes][1]
    node.replace_all_uses_with(node.args[0]); g.graph.erase_node(node); g.recompile()
def insert():
    first, second, *_ = g.graph.nodes
    with g.graph.inserting_before(second): g.graph.call_function(abs, (first,))"""
SCRIPTED = """import torch
class N(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.n, self.l, self.d = 0, [1], {'a': [1.5]}
        self.t, self.ts = torch.zeros(2), [torch.zeros(2)]
        self.register_buffer('b', torch.zeros(2))
    def forward(self, x):
        self.n += 1; self.l.append(1); self.d['a'].append(2.5)
        self.b.add_(1); self.t = self.t + 1; self.ts[0].add_(1); self.ts.append(x)
        return x
m, x = torch.jit.script(N()), torch.ones(2)"""
SAVED = "import io; b = io.BytesIO(); torch.jit.save(m, b); _ = b.seek(0); m = torch.jit.load(b)"
IN_SCRIPT = "m.n, m.l, m.d, m.b.tolist(), m.t.tolist(), [t.tolist() for t in m.ts], m.training"
WRAPPER = """import torch
class W(torch.Tensor):
    __slots__ = ("inner", "n")
    @staticmethod
    def __new__(cls, inner):
        made = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
        made.inner, made.n = inner, 0
        return made
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        args[0].inner.add_(1); args[0].n += 1
        return args[0]
w = W(torch.ones(2)); w.grad = W(torch.ones(2)); g = w.grad"""
CELLS = {
    "a tensor that wraps one": Cell(WRAPPER, "w.add_(1); None", "w.inner.tolist(), w.n"),
    "its gradient": Cell(WRAPPER, "w.grad.add_(1); None", "g.inner.tolist(), g.n, w.grad is g"),
    "another gradient": Cell(WRAPPER, "w.grad = W(w.grad.inner + 1)", "w.grad.inner.tolist()"),
    "nodes that go": Cell(TRACED, "erase()", "len(g.graph.nodes), str(g.graph), g.code,"
                          " g(torch.ones(2)).tolist(), g.forward.__code__.co_code"),
    "nodes that come": Cell(TRACED, "insert()", "len([*g.graph.nodes]), str(g.graph)"),
    "what a node holds": Cell(
        f"{TRACED}\nn = [*g.graph.nodes][1]; n.meta['n'] = 0",
        "n.meta['n'] += 1; n.args += (1,); n.name += 'x'", "n.meta, len(n.args), n.name"),
    "a scripted module": Cell(SCRIPTED, "m(x)", IN_SCRIPT),
    "one that is loaded": Cell(f"{SCRIPTED}\n{SAVED}", "m(x)", IN_SCRIPT),
    "one below it": Cell(f"{SCRIPTED}\nk = torch.jit.script(torch.nn.Sequential(N(), N()));"
                         " m = k[1]", "k(x)", IN_SCRIPT),
    "its mode": Cell(SCRIPTED, "m.train(not m.training)", IN_SCRIPT),
    "hooks of all modules": Cell(
        "import torch; of = torch.nn.modules.module",
        "of.register_module_forward_hook(lambda *_: None)", "len(of._global_forward_hooks)",
        "of._global_forward_hooks.clear()"),
    "what such a hook changes": Cell(
        "import torch; of, l = torch.nn.modules.module, []; m, x = torch.nn.Linear(1, 1), "
        "torch.ones(1); of.register_module_forward_hook(lambda *_: l.append(1))", "m(x)", "l",
        "of._global_forward_hooks.clear()"),
    "the class of a dataset": Cell(
        "import torch\nclass D(torch.utils.data.Dataset):\n    n = 0\n"
        "    def __len__(self): return 4\n    def __getitem__(self, i): D.n += 1; return i\n"
        "dl = torch.utils.data.DataLoader(D(), batch_size=2)", "for b in dl: pass", "D.n"),
    "gradients behind a loss": Cell(
        "import torch; w = torch.nn.Linear(2, 1); loss = w(torch.ones(1, 2)).sum(); h = loss * 2",
        "loss.backward(retain_graph=True); torch.sum(h).backward(retain_graph=True)",
        "w.weight.grad.tolist(), w.bias.grad.tolist()"),
    "what draws the order of a loader": Cell(
        "import torch; dl = torch.utils.data.DataLoader(torch.arange(8.), batch_size=4,"
        " shuffle=True, generator=torch.Generator().manual_seed(1))", "for b in dl: pass",
        "dl.generator.get_state().tolist()"),
    "what draws in a sampler": Cell(
        "import torch; it = torch.utils.data.RandomSampler(range(8),"
        " generator=torch.Generator().manual_seed(1))", "[*it]",
        "it.generator.get_state().tolist()"),
    "the default dtype": Cell(
        "import torch; to = {torch.float32: torch.float64, torch.float64: torch.float16,"
        " torch.float16: torch.float32}", "torch.set_default_dtype(to[torch.get_default_dtype()])",
        "torch.get_default_dtype()", "torch.set_default_dtype(torch.float32)"),
    "threads": Cell("import torch; n = torch.get_num_threads()",
                    "torch.set_num_threads(torch.get_num_threads() + 1)", "torch.get_num_threads()",
                    "torch.set_num_threads(n)"),
    "denormal numbers": Cell("import sys, torch; L = [True]",
                             "torch.set_flush_denormal(L.pop() if L else False)",
                             "sys.float_info.min / 2 == 0", "torch.set_flush_denormal(False)"),
    "the precision of products": Cell(
        "import torch; to = {'highest': 'high', 'high': 'medium', 'medium': 'highest'}",
        "torch.set_float32_matmul_precision(to[torch.get_float32_matmul_precision()])",
        f"torch.get_float32_matmul_precision(), {TF32}", PRECISE),
    "deterministic algorithms": Cell(
        "import torch", "torch.set_deterministic_debug_mode((torch.get_deterministic_debug_mode()"
        " + 1) % 3)", "torch.get_deterministic_debug_mode()",
        "torch.set_deterministic_debug_mode(0)"),
    "anomalies": Cell(
        "import torch", "torch.autograd.set_detect_anomaly(not torch.is_anomaly_enabled(),"
        " not torch.is_anomaly_check_nan_enabled())",
        "torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()",
        "torch.autograd.set_detect_anomaly(False, True)"),
    "the default device": Cell(
        "import torch; to = {'cpu': 'meta', 'meta': None}",
        "torch.set_default_device(to[torch.get_default_device().type])",
        "torch.get_default_device()", "torch.set_default_device(None)"),
    "a setting of the compiler": Cell(
        "import torch, torch._dynamo; n = torch._dynamo.config.recompile_limit",
        "torch._dynamo.config.recompile_limit += 1", "torch._dynamo.config.recompile_limit",
        "torch._dynamo.config.recompile_limit = n"),
    "dtypes of autocast": Cell(
        "import torch; to = {torch.bfloat16: torch.float16, torch.float16: torch.bfloat16}",
        "torch.set_autocast_dtype('cpu', to[torch.get_autocast_dtype('cpu')])",
        "torch.get_autocast_dtype('cpu')", "torch.set_autocast_dtype('cpu', torch.bfloat16)"),
    "sdp": Cell("import torch; b = torch.backends.cuda",
                "b.enable_flash_sdp(not b.flash_sdp_enabled())", "b.flash_sdp_enabled()",
                "b.enable_flash_sdp(True)"),
    "checks of distributions": Cell(
        "import torch; D = torch.distributions.Distribution; on = D._validate_args",
        "D.set_default_validate_args(not D._validate_args)", "D._validate_args",
        "D.set_default_validate_args(on)"),
    **{flag: Cell(f"import torch; b = torch.backends; was = b.{flag}", f"b.{flag} = not b.{flag}",
                  f"b.{flag}", f"b.{flag} = was; {PRECISE}")
       for flag in ("cudnn.benchmark", "cudnn.deterministic", "cudnn.enabled", "cudnn.allow_tf32",
                    "mkldnn.deterministic", "mkldnn.enabled", "cuda.matmul.allow_tf32",
                    "cuda.matmul.allow_fp16_reduced_precision_reduction", "opt_einsum.enabled")},
    "fp32_precision": Cell(
        "import torch; b = torch.backends; to = {'none': 'tf32', 'tf32': 'ieee', 'ieee': 'none'}",
        "b.mkldnn.conv.fp32_precision = to[b.mkldnn.conv.fp32_precision]",
        "b.mkldnn.conv.fp32_precision", "b.mkldnn.conv.fp32_precision = 'none'"),
    "a tensor without numbers": Cell("import torch; m = torch.ones(3, device='meta')", "m.add_(1)",
                                     "m.shape"),
    "a model without numbers": Cell(
        "import torch; m = torch.nn.Linear(3, 3, device='meta')",
        "m.zero_grad(); m(torch.ones(2, 3, device='meta')).sum().backward()",
        "m.weight.grad.shape"),
    "printing": Cell("import torch; o = torch._tensor_str.PRINT_OPTS",
                     "torch.set_printoptions(precision=o.precision + 1)", "o.precision",
                     "torch.set_printoptions(precision=4)"),
    "a tensor's hook": Cell(f"{LEAF}; h = x.register_hook(L.append); y = x; del L",
                            "(y * 2).sum().backward()",
                            "[len(f.__self__) for f in x._backward_hooks.values()]"),
    "a hook after gradients": Cell(
        f"{LEAF}; h = x.register_post_accumulate_grad_hook(L.append)", "(x * 2).sum().backward()",
        "len(L)"),
    "a class of PyTorch's": Cell("import torch; torch.nn.Linear.zz = 0", "torch.nn.Linear.zz += 1",
                                 "torch.nn.Linear.zz", "del torch.nn.Linear.zz"),
    "a storage": Cell("import torch; s = torch.ones(2).untyped_storage()", "s.fill_(s[0] + 1)",
                      "[*s]"),
    "another layout": Cell("import torch; x = torch.ones(3).to_mkldnn()", "x.add_(x)", "0",
                           told="x"),
}  # fmt: skip


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.filterwarnings("ignore:.*torch.jit")  # it is still used
def test_it_is_as_after_one_run_or_told(shell: Shell, name: str) -> None:
    check_left(shell, CELLS[name])


def bits(value: Any) -> Any:
    """The numbers of a tensor and its gradient, and for a sparse one of what it holds."""
    if value is None:
        return None
    parts = sparse_parts(value.detach())
    own = [*map(bits, parts)] if parts else value.detach().clone().numpy().tobytes()
    is_coalesced = value.layout is torch.sparse_coo and value.is_coalesced()
    return tuple(value.shape), own, is_coalesced, bits(value.grad if value.is_leaf else None)


def made() -> dict[str, Any]:
    torch.manual_seed(0)
    eye, weights = torch.eye(4), torch.nn.Embedding(9, 3, sparse=True)
    names: dict[str, Any] = {
        "coo": eye.to_sparse(), "other": (eye + 1).to_sparse(), "csr": eye.to_sparse_csr(),
        "csc": eye.to_sparse_csc(), "bsr": eye.to_sparse_bsr((2, 2)), "dense": torch.ones(4),
        "bsc": eye.to_sparse_bsc((2, 2)), "more": (eye * 2).to_sparse_csr(), "emb": weights,
        "leaf": eye.to_sparse().requires_grad_(), "i": torch.tensor([1, 2, 2]), "torch": torch,
        "opt": torch.optim.SparseAdam(weights.parameters()), "f16": torch.ones(5).half(),
        "complex": torch.ones(3, dtype=torch.complex64), "bools": torch.zeros(3, dtype=bool),
        "empty": torch.sparse_coo_tensor(size=(4, 4)), "wide": torch.ones(4, 4).to_sparse_csr(),
        "view": torch.ones(4, 4).T[1:], "bn": torch.nn.BatchNorm1d(2), "w": weights.weight,
    }  # fmt: skip
    return {**names, "scale": names["bn"].weight}


CHANGES = [
    "emb(i).sum().backward(); opt.step()", "coo *= 2", "coo.add_(other)", "coo.zero_()",
    "coo.copy_(other + coo)", "coo._values().add_(1)", "coo.resize_as_sparse_(other)",
    "coo.data = coo + other", "coo._coalesced_(not coo.is_coalesced()); coo.mul_(2)",
    "(leaf * leaf).sum().backward()", "csr.add_(more)", "csr.values().add_(1)", "csc.mul_(2)",
    "bsr.mul_(2)", "bsc.mul_(2)", "dense.resize_(dense.numel() + 1).fill_(dense.numel())",
    "dense.set_(torch.cat([dense, dense]))", "csr.add_(wide)", "empty.add_(other)",
    "f16.mul_(2)", "complex.mul_(1j)",
    "bools.logical_not_(); view.add_(1)", "bn(view[:, :2]).sum().backward()",
]  # fmt: skip


UNSETTLED = pytest.mark.filterwarnings("ignore")  # PyTorch has not settled all layouts


@UNSETTLED
@pytest.mark.parametrize("code", CHANGES)
def test_tensors_of_all_layouts_are_put_back_bit_for_bit(code: str) -> None:
    """As after one run where they are timed, as before where a call is made to look."""
    once, timed, looked_at = made(), made(), made()
    exec(code, once)
    found = ipyjaxbench.measure_code(code, timed, number=3, repeat=2)
    tensors = {n: v for n, v in looked_at.items() if isinstance(v, torch.Tensor)}
    for name in tensors:
        assert bits(timed[name]) == bits(once[name]), name
    assert {note.code for note in found.notes} & {"put-back", "state-advanced"} == {"put-back"}
    before = {name: bits(value) for name, value in tensors.items()}
    with restore_tensors([*tensors.values()], is_made=True):
        exec(code, dict(looked_at))
    assert {name: bits(value) for name, value in tensors.items()} == before


@UNSETTLED
@pytest.mark.parametrize("code", ["csr.add_(wide)", "empty.add_(other)", "coo.add_(other)"])
def test_sparse_tensors_start_again_and_again_from_what_they_were(code: str) -> None:
    """Also where the call has their parts grow."""
    names = made()
    tensors = {n: v for n, v in names.items() if isinstance(v, torch.Tensor)}
    before = {name: bits(value) for name, value in tensors.items()}
    found = Checkpoint.from_values(tensors, loaded()[0], names)
    for _ in range(3):
        exec(code, dict(names))
        for each in found.changed():
            each.state.restore()
        assert {name: bits(value) for name, value in tensors.items()} == before


@UNSETTLED
def test_gradients_that_a_call_adds_to_are_put_back_too() -> None:
    names = made()
    exec("emb(i).sum().backward()", names)
    before = bits(names["w"])
    with restore_tensors([names["w"]], is_made=True):
        exec("emb(i).sum().backward()", names)
    assert bits(names["w"]) == before
