"""The graph of a call in PyTorch: ATen operations, found with tensors that have no data."""

import functools
import logging
from typing import Any

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded
from torch._higher_order_ops.while_loop import while_loop
from torch.fx.experimental.proxy_tensor import PythonKeyTracer
from torch.utils.hooks import RemovableHandle

from ipyjaxbench import Graph, SnippetError, UntraceableError
from ipyjaxbench.adapters.torch.graphs import aten
from ipyjaxbench.graphs.counts import Uncounted
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.usercode import Call
from ipyjaxbench.usercode.snippet import Source
from tests.adapters.shared.code import names_of

CODE = """
TABLE, SINGLE = torch.ones(8), torch.tensor(3.0)
def scaled(x, w, flag=True):
    h = x @ w
    return torch.relu(h) * 2.0 if flag else h
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm = torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8)
    def forward(self, x, *, by=1.0):
        return torch.dropout(self.norm(self.first(x)), 0.5, self.training) * by + TABLE
def picked(x):
    return x[x > 0.5]
def increased(x):
    x += 1
    return x
def counting(x):
    SINGLE.add_(1)
    return x * SINGLE.tolist()
def reading(x):
    return x * TABLE.tolist()[1] + float(TABLE.numpy().sum()) + SINGLE.item()
def long(x):
    for _ in range(200):
        x = x + 1
    return x
block, linear = Block(), torch.nn.Linear(4, 2)
"""
Names = dict[str, Any]
OWN = names_of(CODE, torch=torch, functools=functools)


@pytest.fixture
def names() -> Names:
    torch.manual_seed(0)
    return {**OWN, "x": torch.rand(3, 4), "w": torch.rand(4, 5)}


def graph(code: str, names: Names, **options: Any) -> Graph:
    return trace_program(Source.plain(code), names, GraphOptions(**options))


@pytest.mark.parametrize(
    ("code", "program"),
    [
        ("scaled(x, w)", ["mm: f32[3,5] = aten.mm(x, w)", "relu: f32[3,5] = aten.relu(mm)",
                          "mul: f32[3,5] = aten.mul.Tensor(relu, 2.0)", "return mul"]),
        ("x @ w + 1", ["mm: f32[3,5] = aten.mm(x, w)", "add: f32[3,5] = aten.add.Tensor(mm, 1)",
                       "return add"]),
        ("torch.compile(scaled, backend='eager')(x, w, False)",
         ["mm: f32[3,5] = aten.mm(x, w)", "return mm"]),
        # An operation that is called as an input.
        ("(lambda add: add + 1)(x)", ["add_out: f32[3,4] = aten.add.Tensor(add, 1)",
                                      "return add_out"]),
    ],
)  # fmt: skip
def test_a_call_is_shown_as_its_operations(code: str, program: list[str], names: Names) -> None:
    found = graph(code, names)
    assert found.program.splitlines() == program
    assert found.seconds > 0
    assert found.tries == 1


def test_a_call_may_only_take_or_only_make_tensors_and_shapes_or_open_lengths_will_do(
    names: Names,
) -> None:
    found = graph("(lambda a: None)(x)", names)
    assert (found.operations, found.outputs) == (0, ())
    assert [value.name for value in found.inputs] == ["a"]
    found = graph("torch.rand(3)", names)
    assert [each.shape for each in found.outputs] == [(3,)]
    assert found.text().startswith("rand: f32[3] = aten.rand(")
    (result,) = graph("picked(x)", names, stage="export").outputs  # its length depends on values
    assert (result.shape, result.nbytes) == ((-1,), 0)
    shapes = (("float32", (3, 4)),)
    found = trace_program(Source.plain("block"), names, GraphOptions(shapes=shapes), "torch")
    assert [(v.dtype, v.shape) for v in found.outputs] == [("float32", (3, 8))]


@pytest.mark.parametrize("stage", ["aten", "export"])
def test_numbers_that_the_code_names_can_be_read(stage: str, names: Names) -> None:
    found = graph("reading(x)", names, stage=stage)
    assert all(f", {number})" in found.program for number in (1.0, 8.0, 3.0))


@pytest.mark.parametrize("code", ["x * n.item()", "counting(x)"])
def test_numbers_of_arguments_and_those_that_were_written_are_not_part_of_the_program(
    code: str, names: Names
) -> None:
    with pytest.raises(UntraceableError):
        graph(code, {**names, "n": torch.tensor(2.0)})
    assert OWN["SINGLE"].item() == 3.0


STATE = ["first.weight", "first.bias", "norm.weight", "norm.bias", "norm.running_mean",
         "norm.running_var", "norm.num_batches_tracked"]  # fmt: skip
MADE = "x + torch.tensor([1.0, 2.0, 3.0, 4.0])"


@pytest.mark.parametrize(
    ("code", "stage", "inputs", "constants", "part"),
    [
        ("(lambda a: a + x)(x)", "aten", ["a"], [], "aten.add.Tensor(a, a)"),
        (MADE, "export", ["x"], [((4,), 16)], "aten.add"),
        ("(lambda p, x: x @ p['w'])({'w': w}, x=x)", "aten", ["p['w']", "x"], [],
         "aten.mm(x, p['w'])"),
        ("functools.partial(scaled, w=w)(*[x])", "export", ["x"], [((4, 5), 80)],
         "aten.matmul(x, "),
        ("block(x, by=3.0)", "aten", [*STATE, "x"], [((8,), 32)],
         "aten.addmm(first.bias, x, t)"),
        ("block(x, by=3.0)", "export", [*STATE, "x"], [((8,), 32)],
         "aten.linear(x, first.weight, first.bias)"),
        ("linear(x)", "export", ["weight", "bias", "input"], [],
         "aten.linear(input, weight, bias)"),
    ],
)  # fmt: skip
def test_arguments_and_a_modules_own_tensors_are_inputs_and_what_is_named_beside_them_is_not(
    code: str, stage: str, inputs: list[str], constants: list[Any], part: str,
    names: Names,
) -> None:  # fmt: skip
    found = graph(code, names, stage=stage)
    assert [value.name for value in found.inputs] == inputs
    assert [(value.shape, value.nbytes) for value in found.constants] == constants
    assert part in found.program


ATTENTION = 2 * 2 * 2 * 4 * 6 * 10 * 8
LSTM = 2 * 5 * 2 * (8 * 64 + 16 * 64)


@pytest.mark.parametrize(
    ("code", "flops"),
    [
        ("x @ w", 2 * 3 * 4 * 5),
        ("x + 1", 0),
        ("torch.nn.Conv2d(3, 8, 3)(torch.rand(1, 3, 16, 16))", 2 * 8 * 14 * 14 * 27),
        ("torch.func.grad(lambda a: (a @ w).sum())(x)", 2 * 2 * 3 * 4 * 5),
        # What PyTorch's own counter leaves out.
        ("attention(q, k, k)", ATTENTION),
        ("(lambda q, k: grad(attention(q, k, k).sum(), (q, k)))(q, k)",
         3.5 * ATTENTION),  # scores again, and four of their size
        ("lstm(words)", LSTM),
        ("(lambda words: grad(lstm(words)[0].sum(), [*lstm.parameters()]))(words)", 3 * LSTM),
        ("torch.nn.GRU(8, 16)(words)", LSTM * 3 // 4),
        ("x @ w[:, 0]", 2 * 3 * 4),
        ("torch.dot(x[0], x[1])", 2 * 4),
        ("torch.zeros(3, 5).addmm_(x, w)", 2 * 3 * 4 * 5),
        ("torch.cond(x.sum() > 0, lambda a: a @ w, lambda a: a @ w @ w.T @ w + 1, (x,))",
         2 * 3 * 4 * 5 * 3),
    ],
)  # fmt: skip
def test_products_and_convolutions_are_counted(code: str, flops: int, names: Names) -> None:
    q, k = (torch.rand(2, 4, n, 8, requires_grad=True) for n in (6, 10))
    names |= {"q": q, "k": k, "attention": torch.nn.functional.scaled_dot_product_attention,
              "grad": torch.autograd.grad, "words": torch.rand(5, 2, 8),
              "lstm": torch.nn.LSTM(8, 16)}  # fmt: skip
    found = graph(code, names)
    assert found.flops == flops
    assert found.uncounted == (Uncounted("others"),)


def test_products_that_are_not_counted_and_operations_of_others_are_named(names: Names) -> None:
    names["bilinear"] = torch.nn.Bilinear(4, 4, 2)
    found = graph("bilinear(x, x)", names)
    assert found.uncounted == (Uncounted("others"), Uncounted("products", "aten._trilinear"))
    shown = " ".join(str(found).split())
    assert "matrix products and convolutions only, as PyTorch counts; excludes aten._tri" in shown

    @torch.library.custom_op("of_these_tests::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    twice.register_fake(torch.empty_like)
    found = graph("twice(x)", {**names, "twice": twice})
    assert found.uncounted == (Uncounted("others"), Uncounted("products", "of_these_tests.twice"))


def test_products_in_a_loop_are_counted_for_one_turn_and_that_is_said(names: Names) -> None:
    names |= {"while_loop": while_loop, "square": torch.rand(4, 4)}
    loop = "while_loop(lambda a, m: a.sum() < 9, lambda a, m: ({}, m + 0), (x, square))"
    found = graph(loop.format("a @ m"), names, stage="dynamo")
    in_loop = Uncounted("products", "torch.ops.higher_order.while_loop")
    assert (found.uncounted, found.flops) == ((Uncounted("others"), in_loop), 2 * 3 * 4 * 4)
    found = graph(loop.format("a + 1"), names, stage="dynamo")
    assert (found.uncounted, found.flops) == ((Uncounted("others"),), 0)


def test_nothing_of_the_users_changes(names: Names) -> None:
    names["compiled"] = torch.compile(OWN["scaled"], backend="eager")
    names["compiled"](names["x"], names["w"])
    read_entries = torch._dynamo.eval_frame._debug_get_cache_entry_list

    def state() -> list[Any]:
        tensors = [*OWN["block"].state_dict().values(), names["x"], torch.get_rng_state()]
        return [
            [each.tolist() for each in tensors], len(read_entries(OWN["scaled"].__code__)),
            logging.getLogger("torch._subclasses.fake_tensor").disabled,
            vars(PythonKeyTracer).get("create_node"), RemovableHandle.next_id,
        ]  # fmt: skip

    before = state()
    for code in ("block(x)", "increased(x)", "torch.rand(3, 4) + x", "compiled(x, w, False)"):
        graph(code, names)
        assert state() == before


def test_why_a_call_cannot_be_traced_is_told(
    names: Names, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UntraceableError) as caught:
        graph("torch.rand(7) + x", names)
    found = caught.value.diagnosis
    assert found.source == "torch.rand(7) + x"
    assert found.because.startswith("The code raises this error while it is traced")
    assert capfd.readouterr().err == ""
    call = Call("f(x)", torch.sin, (torch.ones(2),), {}, ("x",))
    assert aten.failure(call) == (None, ())  # it traces


def test_what_is_no_call_with_tensors_is_told_so(names: Names) -> None:
    with pytest.raises(SnippetError, match=r"pass a call with some, such as  f\(x\)"):
        trace_program(Source.plain("len([3])"), names, GraphOptions(), "torch")
    for code in ("block", "torch.compile(block)"):
        with pytest.raises(SnippetError, match=r"' is not called. Call it: "):
            trace_program(Source.plain(code), names, GraphOptions())


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("lazy(x)", "parameter weight has no shape before the first call of its module: call that"),
        ("scaled(rows, w)", "x is a nested tensor, .*: pass what its .to_padded_tensor"),
    ],
)
def test_tensors_without_a_shape_are_refused(code: str, message: str, names: Names) -> None:
    rows = torch.nested.nested_tensor([torch.ones(2, 4), x := names["x"]], layout=torch.jagged)
    names |= {"lazy": torch.nn.LazyLinear(2), "rows": rows}
    with pytest.raises(SnippetError, match=message):
        graph(code, names)
    assert graph("lazy(x)", names, stage="dynamo").operations == 1
    names["lazy"](x)
    assert graph("lazy(x)", names).operations == 2


def test_a_long_graph_is_folded(names: Names) -> None:
    found = graph("long(x)", names)
    assert found.operations == 200
    assert "... 125 more operations (.text() has all) ..." in found.program
    assert len(found.program.splitlines()) == 60 + 1 + 15 + 1
    whole = graph("long(x)", names, depth=None).program
    assert len(whole.splitlines()) == 200 + 1
    assert found.text() == whole
