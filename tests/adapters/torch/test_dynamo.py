"""What torch.compile sees of a call, and that looking leaves no trace in the user's session."""

import linecache
from collections.abc import Callable, Iterator
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

Names = dict[str, Any]
IF = "Python's if or while needs a tensor's value"


def scaled(x: Any, by: float = 2.0) -> Any:
    return torch.relu(x @ x) * by


def signed(x: Any) -> Any:
    y = x * 2
    if y.sum() > 0:
        return y + 1
    return y - 1


def around(x: Any) -> Any:
    h = signed(x) @ x
    return torch.relu(h)


def printing(x: Any) -> Any:
    y = x.sin()
    print("half way")
    return y.cos()


def looping(x: Any) -> Any:
    for _ in range(3):
        x = x * 2
        if x.sum() > 100:
            break
    return x + 1


def asking_in_a_loop(x: Any) -> Any:
    for _ in range(2):
        x = x + 1
        torch._dynamo.graph_break()
    return x


def numbered(x: Any) -> Any:
    return x * x.sum().item()


def multiplied(x: Any) -> Any:
    return x.mm(x).matmul(x)


def by_numpy(x: Any) -> Any:
    return torch.from_numpy(np.sin(x.numpy()))


COMPILED_INSIDE = torch.compile(signed, backend="eager")


def calling_compiled(x: Any) -> Any:
    print("before")
    return COMPILED_INSIDE(x) + 1


class Gated(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(3, 3)
        self.norm = torch.nn.BatchNorm1d(3)
        self.calls = 0

    def forward(self, x: Any) -> Any:
        self.calls += 1
        h = self.norm(self.first(x))
        if h.sum() > 1000:
            h = h * 2
        return h.relu()


def trained_in_place(x: Any) -> Any:
    x.add_(1)
    print("now")
    return x.mul_(2)


def failing(x: Any) -> Any:
    print("so far")
    raise ValueError("the user's own")


def deeper(x: Any, levels: int) -> Any:
    print(levels)
    made: dict[str, Any] = {}
    exec("def made(x, go, n):\n    y = x + n\n    return go(y, n - 1) if n else y", made)
    return made["made"](x, deeper, levels)


@pytest.fixture
def names() -> Names:
    torch.manual_seed(0)
    return {
        **globals(), "x": torch.rand(3, 3), "gated": Gated(), "linear": torch.nn.Linear(3, 4),
        "compiled_module": torch.compile(Gated(), backend="eager"),
    }  # fmt: skip


@pytest.fixture(autouse=True)
def reset() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def graph(code: str, names: Names, stage: str = "dynamo", **options: Any) -> Graph:
    return trace_program(Source.plain(code), names, GraphOptions(stage=stage, **options))


def entries(function: Any) -> int:
    return len(torch._dynamo.eval_frame._debug_get_cache_entry_list(function.__code__))


def test_a_call_that_is_one_graph_is_not_made(names: Names) -> None:
    found = graph("scaled(x, by=3.0)", names)
    assert found.program.splitlines() == [
        "matmul: f32[3,3] = matmul(x, x)",
        "relu: f32[3,3] = torch.relu(matmul)",
        "mul: f32[3,3] = mul(relu, 3.0)",
        "return mul",
    ]
    assert (found.breaks, found.flops, found.tries) == ((), 2 * 3**3, 1)
    assert "nothing was executed" in str(found)
    assert [(v.name, v.shape) for v in found.inputs] == [("x", (3, 3))]
    assert [(c.name, c.parts) for c in found.lines] == [
        ("return torch.relu(x @ x) * by", ("matmul", "torch.relu", "mul"))
    ]


@pytest.mark.parametrize(
    ("code", "graphs", "line", "because"),
    [
        ("signed(x)", 2, "if y.sum() > 0:", IF),
        ("gated.forward(x)", 2, "if h.sum() > 1000:", IF),
        ("compiled_module(x)", 2, "if h.sum() > 1000:", IF),
        ("around(x)", 3, "if y.sum() > 0:", IF),
        ("numbered(x)", 2, "return x * x.sum().item()", "a Python number needs a tensor's"),
        ("printing(x)", 2, 'print("half way")', "Dynamo does not know how to trace builtin"),
        ("asking_in_a_loop(x)", 0, "torch._dynamo.graph_break()", "User-inserted graph break; P"),
        ("looping(x)", 0, "if x.sum() > 100:", "Python's if or while needs a tensor's value; P"),
    ],
)  # fmt: skip
def test_graph_breaks_are_told_with_their_lines(
    code: str, graphs: int, line: str, because: str, names: Names, capsys: Any
) -> None:
    found = graph(code, names)
    assert found.program.count("# graph ") == graphs
    assert [cut.source for cut in found.breaks] == [line]
    assert found.breaks[0].because.startswith(because)
    assert linecache.getline(__file__, found.breaks[0].line).strip() == line
    assert [note.code for note in found.notes] == ["call-made"]
    assert "nothing was executed" not in str(found)
    assert [v.shape for v in found.outputs] == [(3, 3)]
    assert found.printed == ("half way\n" if code == "printing(x)" else "")
    assert capsys.readouterr().out == ""


def test_functions_that_were_not_looked_at_are_told(names: Names) -> None:
    """Each call makes a new one, which no later call meets."""
    found = graph("deeper(x, 1)", names)
    assert found.breaks[-1].because == "ran after a graph break and was not analyzed"
    assert "The call ran 4 times" in found.notes[0].text
    assert found.tries == 5  # traced once before, without being made


@pytest.mark.parametrize(
    ("code", "operations"),
    [
        ("linear(x)", {"torch.nn.functional.linear": 2 * 3 * 3 * 4}),
        ("torch.relu(x)", {"torch.relu": 0}),
        ("x @ x", {"matmul": 2 * 3**3}),
        ("multiplied(x)", {"Tensor.mm": 2 * 3**3, "Tensor.matmul": 2 * 3**3}),
        ("by_numpy(x)", {"numpy.sin": 0}),
    ],
)
def test_operations_have_the_names_that_users_write_and_are_counted_one_by_one(
    code: str, operations: dict[str, int], names: Names
) -> None:
    found = graph(code, names)
    assert {part.name: part.flops for part in found.stats}.items() >= operations.items()
    assert not found.breaks


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("generic_jump TensorVariable()\nmore", IF),
        ("Unsupported Tensor.item() call", "a Python number needs a tensor's value"),
        ("Dynamic shape operator\n", "the shape of a result depends on the data"),
        ("Odd\n  Explanation: It is torch.odd. See there.\n  Hint: none", "It is torch.odd"),
        ("Odd\n  Explanation: It is odd.", "It is odd"),
        ("  something else\nTensor.item()", "something else"),
    ],
)
def test_a_reason_of_dynamos_is_one_sentence(reason: str, words: str) -> None:
    assert describe_break(reason) == words


def test_what_the_call_raises_is_a_diagnosis(names: Names) -> None:
    code = failing.__code__
    with pytest.raises(UntraceableError) as caught:
        graph("failing(x)", names)
    found = caught.value.diagnosis
    assert (found.error, found.source) == ("ValueError", 'raise ValueError("the user\'s own")')
    assert failing.__code__ is code


CASES: dict[str, Callable[..., Any]] = {
    "scaled": scaled, "signed": signed, "around": around, "looping": looping,
    "calling_compiled": calling_compiled,
}  # fmt: skip


@pytest.mark.parametrize(
    ("stage", "name"),
    [("dynamo", "scaled"), ("dynamo", "signed"), ("dynamo", "looping"),
     ("dynamo", "calling_compiled"), ("aten", "signed"), ("export", "signed")],
)  # fmt: skip
def test_what_is_compiled_stays_compiled(name: str, stage: str, names: Names) -> None:
    """The next call compiles nothing; one of another size compiles as often as it would have."""
    x, wide = torch.rand(3, 3), torch.rand(4, 4)

    def compilations(*, look: bool) -> list[int]:
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        made: list[Any] = []
        compiled = torch.compile(CASES[name], backend=lambda m, _: (made.append(m), m.forward)[1])
        told = []
        for value, other in ((x, x), (x, torch.rand(6, 6)), (wide, None)):
            compiled(value)
            told += [len(made), *map(entries, CASES.values())]
            told.append(sum(torch._dynamo.utils.counters["stats"].values()))
            if look and other is not None:
                try:
                    graph(f"{name}(x)", {**names, "x": other}, stage)
                except UntraceableError:
                    assert stage != "dynamo"
        return told

    assert compilations(look=True) == compilations(look=False)


def test_dynamos_records_and_the_users_module_stay(names: Names) -> None:
    from torch._dynamo import callback, convert_frame, eval_frame, pgo, utils

    torch.compile(signed, backend="eager")(names["x"])

    def global_state() -> list[Any]:
        return [
            {name: dict(count) for name, count in utils.counters.items()},
            list(utils.get_compilation_metrics()), convert_frame.FRAME_COUNTER,
            dict(convert_frame.FRAME_COMPILE_COUNTER), len(utils.graph_break_reasons),
            set(eval_frame.cached_backends), {k: list(v) for k, v in
            utils.compilation_time_metrics.items()}, repr(pgo._CODE_STATE),
            torch._dynamo.config.get_config_copy(), eval_frame._stance.stance,
            torch._C._dynamo.eval_frame.get_eval_frame_callback(), set(globals()),
            [id(f.__code__) for f in CASES.values()],
        ]  # fmt: skip

    started: list[Any] = []
    callback.callback_handler.register_start_callback(started.append)
    try:
        before = global_state()
        for code in ("around(x)", "scaled(x)", "gated(x)"):
            graph(code, names)
            assert global_state() == before
        assert not started
        assert callback.callback_handler.start_callbacks == [started.append]
    finally:
        callback.callback_handler.remove_start_callback(started.append)


def test_a_call_that_is_made_changes_nothing_of_the_users(names: Names) -> None:
    gated, x = names["gated"], names["x"]
    tensors = [*gated.state_dict(keep_vars=True).values(), x]
    before = [(t.tolist(), t._version) for t in tensors]
    for code in ("gated(x)", "trained_in_place(x)"):
        graph(code, names)
        assert [(t.tolist(), t._version) for t in tensors] == before
        assert gated.calls == 0


def test_the_whole_text_of_each_stage_can_be_asked_for(names: Names) -> None:
    found = graph("scaled(x)", names, "aten")
    assert found.text() == found.program
    assert "matmul: f32[3,3] = matmul(x, x)" in found.text("dynamo")
    assert "matmul: f32[3,3] = aten.matmul(x, x)" in found.text("export")
    assert isinstance(found.graph, torch.fx.GraphModule)
    broken = trace_program(Source.plain("printing(x)"), names, GraphOptions())
    with pytest.raises(SnippetError, match="stage='dynamo' runs the call"):
        broken.text("dynamo")


@pytest.mark.parametrize(
    ("stage", "code", "outs"),
    [("aten", "scaled(x)", {"out"}), ("export", "scaled(x)", {"out"}),
     ("dynamo", "signed(x)", {"g1_out", "g2_out"})],
)  # fmt: skip
def test_it_can_be_drawn(stage: str, code: str, outs: set[str], names: Names) -> None:
    found = graph(code, names, stage)
    assert found.live is not None
    nodes = [*found.live.nodes()]
    known = {node.name for node in nodes}
    assert len(known) == len(nodes)
    assert all(set(node.takes) <= known for node in nodes)
    assert {name for name in known if name.endswith("out")} == outs
    assert found.live.compiled() is None


def test_an_export_has_the_names_of_the_arguments(names: Names) -> None:
    found = graph("linear(x)", names, "export")
    assert isinstance(found.graph, torch.export.ExportedProgram)
    assert found.program.splitlines() == [
        "linear: f32[3,4] = aten.linear(input, weight, bias)",
        "return linear",
    ]
    assert [v.name for v in graph("scaled(x, by=3.0)", names, "export").inputs] == ["x"]


def test_shapes_alone_do_where_there_is_no_break(names: Names) -> None:
    shapes = (("float32", (3, 3)),)
    assert graph("scaled", names, shapes=shapes).operations == 3
    with pytest.raises(SnippetError, match="a graph break, after which Python needs values"):
        graph("signed", names, shapes=shapes)


def test_dynamo_that_is_switched_off_is_told(names: Names, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHDYNAMO_DISABLE", "1")
    with pytest.raises(SnippetError, match=r"'dynamo' needs torch.compile, which is disabled"):
        graph("scaled(x)", names)
