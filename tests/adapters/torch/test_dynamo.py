"""What torch.compile sees of a call, and that looking leaves no trace in the user's session."""

import contextlib
import linecache
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded

from ipyjaxbench import Graph, SnippetError, UntraceableError
from ipyjaxbench.adapters.torch.graphs.dynamo import describe_break
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.usercode.snippet import Source
from tests.adapters.shared.code import names_of

Names = dict[str, Any]
IF = "Python's if or while needs a tensor's value"
CODE = """
def scaled(x, by=2.0):
    return torch.relu(x @ x) * by
def signed(x):
    y = x * 2
    if y.sum() > 0:
        return y + 1
    return y - 1
def around(x):
    h = signed(x) @ x
    return torch.relu(h)
def printing(x):
    y = x.sin()
    print("half way")
    return y.cos()
def looping(x):
    for _ in range(3):
        x = x * 2
        if x.sum() > 100:
            break
    return x + 1
def asking_in_a_loop(x):
    for _ in range(2):
        x = x + 1
        torch._dynamo.graph_break()
    return x
def numbered(x):
    return x * x.sum().item()
def multiplied(x):
    return x.mm(x).matmul(x)
def by_numpy(x):
    return torch.from_numpy(np.sin(x.numpy()))
compiled_inside = torch.compile(signed, backend="eager")
def calling_compiled(x):
    print("before")
    return compiled_inside(x) + 1
class Gated(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.calls = torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3), 0
    def forward(self, x):
        self.calls += 1
        h = self.norm(self.first(x))
        if h.sum() > 1000:
            h = h * 2
        return h.relu()
def trained_in_place(x):
    x.add_(1)
    print("now")
    return x.mul_(2)
def deeper(x, levels):
    print(levels)
    made = {}
    exec("def made(x, go, n):\\n    y = x + n\\n    return go(y, n - 1) if n else y", made)
    return made["made"](x, deeper, levels)
gated, linear = Gated(), torch.nn.Linear(3, 4)
compiled_module = torch.compile(Gated(), backend="eager")
"""
OWN = names_of(CODE, torch=torch, np=np)


@pytest.fixture
def names() -> Iterator[Names]:
    torch.manual_seed(0)
    torch._dynamo.reset()
    yield {**OWN, "x": torch.rand(3, 3)}
    torch._dynamo.reset()


def graph(code: str, names: Names, stage: str = "dynamo", **options: Any) -> Graph:
    return trace_program(Source.plain(code), names, GraphOptions(stage=stage, **options))


def test_a_call_that_is_one_graph_is_not_made(names: Names) -> None:
    found = graph("scaled(x, by=3.0)", names)
    operations = ["matmul: f32[3,3] = matmul(x, x)", "relu: f32[3,3] = torch.relu(matmul)",
                  "mul: f32[3,3] = mul(relu, 3.0)"]  # fmt: skip
    assert found.program.splitlines() == [*operations, "return mul"]
    assert (found.breaks, found.flops, found.tries) == ((), 2 * 3**3, 1)
    assert "nothing was executed" in str(found)
    assert [(v.name, v.shape) for v in found.inputs] == [("x", (3, 3))]
    (line,) = found.lines
    assert line.name == "return torch.relu(x @ x) * by"
    assert line.parts == ("matmul", "torch.relu", "mul")


@pytest.mark.parametrize(("code", "graphs", "line", "because"), [
    ("signed(x)", 2, "if y.sum() > 0:", IF),
    ("gated.forward(x)", 2, "if h.sum() > 1000:", IF),
    ("compiled_module(x)", 2, "if h.sum() > 1000:", IF),
    ("around(x)", 3, "if y.sum() > 0:", IF),
    ("numbered(x)", 2, "return x * x.sum().item()", "a Python number needs a tensor's"),
    ("printing(x)", 2, 'print("half way")', "Dynamo does not know how to trace builtin"),
    ("asking_in_a_loop(x)", 0, "torch._dynamo.graph_break()", "User-inserted graph break; P"),
    ("looping(x)", 0, "if x.sum() > 100:", f"{IF}; P"),
])  # fmt: skip
def test_graph_breaks_are_told_with_their_lines(
    code: str, graphs: int, line: str, because: str, names: Names, capsys: Any
) -> None:
    found = graph(code, names)
    assert found.program.count("# graph ") == graphs
    (cut,) = found.breaks
    assert cut.source == line
    assert cut.because.startswith(because)
    assert linecache.getline(OWN["signed"].__code__.co_filename, cut.line).strip() == line
    assert [note.code for note in found.notes] == ["call-made"]
    assert "nothing was executed" not in str(found)
    assert [v.shape for v in found.outputs] == [(3, 3)]
    assert found.printed == ("half way\n" if code == "printing(x)" else "")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("name", ["numbered", "printing", "scaled"])
def test_a_graph_breaks_where_pytorch_would_raise_with_fullgraph(name: str, names: Names) -> None:
    """It takes more into a graph than without, such as `x.item()`, in newer versions."""
    made: list[Any] = []
    backend = lambda module, _: (made.append(module), module.forward)[1]  # noqa: E731
    names["whole"] = torch.compile(names[name], fullgraph=True, backend=backend)
    found = graph("whole(x)", names)
    assert not made
    with contextlib.suppress(Exception):
        names["whole"](names["x"])
    assert bool(found.breaks) == (not made)


def test_functions_that_were_not_looked_at_are_told(names: Names) -> None:
    """Each call makes a new one, which no later call meets."""
    found = graph("deeper(x, 1)", names)
    assert found.breaks[-1].because == "ran after a graph break and was not analyzed"
    assert "The call ran 4 times" in found.notes[0].text
    assert found.tries == 5  # traced once before, without being made


@pytest.mark.parametrize(("code", "operations"), [
    ("linear(x)", {"torch.nn.functional.linear": 2 * 3 * 3 * 4}),
    ("torch.relu(x)", {"torch.relu": 0}),
    ("multiplied(x)", {"Tensor.mm": 2 * 3**3, "Tensor.matmul": 2 * 3**3}),
    ("by_numpy(x)", {"numpy.sin": 0}),
])  # fmt: skip
def test_operations_have_the_names_that_users_write_and_are_counted_one_by_one(
    code: str, operations: dict[str, int], names: Names
) -> None:
    found = graph(code, names)
    assert {part.name: part.flops for part in found.stats}.items() >= operations.items()
    assert not found.breaks


@pytest.mark.parametrize(("reason", "words"), [
    ("generic_jump TensorVariable()\nmore", IF),
    ("Unsupported Tensor.item() call", "a Python number needs a tensor's value"),
    ("Dynamic shape operator\n", "the shape of a result depends on the data"),
    ("Odd\n  Explanation: It is torch.odd. See there.\n  Hint: none", "It is torch.odd"),
    ("Odd\n  Explanation: It is odd.", "It is odd"),
    ("  something else\nTensor.item()", "something else"),
])  # fmt: skip
def test_a_reason_of_dynamos_is_one_sentence(reason: str, words: str) -> None:
    assert describe_break(reason) == words


COMPILED = ("scaled", "signed", "around", "looping", "calling_compiled")


@pytest.mark.parametrize(
    ("stage", "name"),
    [("dynamo", "scaled"), ("dynamo", "signed"), ("dynamo", "looping"),
     ("dynamo", "calling_compiled"), ("aten", "signed"), ("export", "signed")],
)  # fmt: skip
def test_what_is_compiled_stays_compiled(name: str, stage: str, names: Names) -> None:
    """The next call compiles nothing; one of another size compiles as often as it would have."""
    x, wide = torch.rand(3, 3), torch.rand(4, 4)

    def entries(function: str) -> int:
        return len(torch._dynamo.eval_frame._debug_get_cache_entry_list(OWN[function].__code__))

    def compilations(*, look: bool) -> list[int]:
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        made: list[Any] = []
        compiled = torch.compile(OWN[name], backend=lambda m, _: (made.append(m), m.forward)[1])
        told = []
        for value, other in ((x, x), (x, torch.rand(6, 6)), (wide, None)):
            compiled(value)
            told += [len(made), *map(entries, COMPILED)]
            told.append(sum(torch._dynamo.utils.counters["stats"].values()))
            if look and other is not None:
                try:
                    graph(f"{name}(x)", {**names, "x": other}, stage)
                except UntraceableError:
                    assert stage != "dynamo"
        return told

    assert compilations(look=True) == compilations(look=False)


def test_dynamos_records_and_what_is_the_users_stay(names: Names) -> None:
    from torch._dynamo import callback, convert_frame, eval_frame, pgo, utils

    torch.compile(OWN["signed"], backend="eager")(names["x"])
    gated = names["gated"]
    tensors = [*gated.state_dict(keep_vars=True).values(), names["x"]]

    def global_state() -> list[Any]:
        return [
            {name: dict(count) for name, count in utils.counters.items()},
            list(utils.get_compilation_metrics()), convert_frame.FRAME_COUNTER,
            dict(convert_frame.FRAME_COMPILE_COUNTER), len(utils.graph_break_reasons),
            set(eval_frame.cached_backends), {k: list(v) for k, v in
            utils.compilation_time_metrics.items()}, repr(pgo._CODE_STATE),
            torch._dynamo.config.get_config_copy(), eval_frame._stance.stance,
            torch._C._dynamo.eval_frame.get_eval_frame_callback(), set(OWN),
            [id(OWN[name].__code__) for name in COMPILED],
            [(t.tolist(), t._version) for t in tensors], gated.calls,
        ]  # fmt: skip

    started: list[Any] = []
    callback.callback_handler.register_start_callback(started.append)
    registered = [*callback.callback_handler.start_callbacks]
    try:
        before = global_state()
        for code in ("around(x)", "scaled(x)", "gated(x)", "trained_in_place(x)"):
            graph(code, names)
            assert global_state() == before
        assert not started
        assert callback.callback_handler.start_callbacks == registered
    finally:
        callback.callback_handler.remove_start_callback(started.append)


def test_the_whole_text_of_each_stage_can_be_asked_for(names: Names) -> None:
    found = graph("scaled(x)", names, "aten")
    assert found.text() == found.program
    assert "matmul: f32[3,3] = matmul(x, x)" in found.text("dynamo")
    assert "matmul: f32[3,3] = aten.matmul(x, x)" in found.text("export")
    assert isinstance(found.graph, torch.fx.GraphModule)
    broken = graph("printing(x)", names, "aten")
    with pytest.raises(SnippetError, match="stage='dynamo' runs the call"):
        broken.text("dynamo")


def test_several_graphs_can_be_drawn(names: Names) -> None:
    found = graph("signed(x)", names)
    assert found.live is not None
    nodes = [*found.live.nodes()]
    known = {node.name for node in nodes}
    assert len(known) == len(nodes)
    assert all(set(node.takes) <= known for node in nodes)
    assert {name for name in known if name.endswith("out")} == {"g1_out", "g2_out"}
    assert found.live.compiled() is None


def test_shapes_alone_do_where_there_is_no_break(
    names: Names, monkeypatch: pytest.MonkeyPatch
) -> None:
    shapes = (("float32", (3, 3)),)
    assert graph("scaled", names, shapes=shapes).operations == 3
    with pytest.raises(SnippetError, match="a graph break, after which Python needs values"):
        graph("signed", names, shapes=shapes)
    monkeypatch.setenv("TORCHDYNAMO_DISABLE", "1")
    with pytest.raises(SnippetError, match=r"'dynamo' needs torch.compile, which is disabled"):
        graph("scaled(x)", names)
