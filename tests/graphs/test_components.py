"""What operations are counted by, and what a graph still tells without its framework."""

import linecache
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from ipyjaxbench import Graph, OptionError, SnippetError
from ipyjaxbench.graphs import (
    Count,
    GraphOptions,
    GraphTracer,
    ProgramHandle,
    Step,
    Workload,
    count_by_line,
    count_by_name,
)
from ipyjaxbench.graphs.compiled import Compiled
from ipyjaxbench.graphs.components import Node, Value
from ipyjaxbench.graphs.graph import difference
from ipyjaxbench.reports import Note
from ipyjaxbench.usercode import Call
from tests.fake_framework import FakeFramework


def a_graph(text: str = "one\ntwo", **facts: object) -> Graph:
    given = {
        "code": "f(x)", "framework": "jax", "frameworks": {"jax": "0.10"}, "form": "jaxpr",
        "program": text, "inputs": (), "outputs": (), "constants": (), "operations": 1,
        "flops": 0.0, "uncounted": (), "stats": (), "lines": (), "seconds": 0.1,
    }  # fmt: skip
    return Graph(**(given | facts))  # type: ignore[arg-type]


def test_operations_are_counted_by_name_the_costliest_first() -> None:
    steps = [("add", 1.0), ("dot", 5.0), ("add", 2.0), ("copy", 0.0), ("cast", 0.0), ("cast", 0.0)]
    assert count_by_name(steps) == (
        Count("dot", 1, 5.0), Count("add", 2, 3.0), Count("cast", 2, 0.0), Count("copy", 1, 0.0),
    )  # fmt: skip


def test_operations_are_counted_by_line_in_the_order_of_the_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = ["a = x @ x\n", "\n", "  b = a + a  \n"]
    monkeypatch.setitem(linecache.cache, "<cell>", (0, None, text, "<cell>"))
    steps = [
        Step("<cell>", 3, "add", 1.0, 16.0), Step("<cell>", 1, "dot", 5.0, 8.0),
        Step("<cell>", 3, "add", 2.0, 16.0), Step("<cell>", 3, "neg", 1.0),
        Step("<cell>", 2, "mul", 9.0), Step("", 0, "mul", 9.0),
    ]  # fmt: skip
    assert count_by_line(steps) == (
        Count("a = x @ x", 1, 5.0, 1, ("dot",), 8.0),
        Count("b = a + a", 3, 4.0, 3, ("add", "neg"), 32.0),
    )


class Handle(ProgramHandle):
    """A program whose text is its stage."""

    def __init__(self) -> None:
        self.program = self
        self.questions: list[str] = []

    @contextmanager
    def around(self) -> Iterator[None]:
        self.questions.append("begin")
        yield
        self.questions.append("end")

    def text(self, stage: str) -> str:
        self.questions.append(stage)
        return stage

    def nodes(self) -> Iterator[Node]:
        yield Node("out", "result")

    def workload(self, nbytes: int) -> Workload:
        return Workload({}, shortcuts=False, nbytes=nbytes)

    def compiled(self) -> Compiled | None:
        self.questions.append("compiled")
        return Compiled(None, None, 512, 0)

    def checks(self) -> tuple[Note, ...]:
        self.questions.append("checks")
        return (Note("unrolled", "A line was traced 9 times."),)


def test_what_is_asked_later_is_asked_where_changes_are_put_back() -> None:
    handle = Handle()
    graph = a_graph().attach(handle, handle.around)
    assert (graph.text(), graph.text("hlo"), graph.memory) == ("jaxpr", "hlo", 512)
    assert [note.code for note in graph.checks] == ["unrolled"]
    assert handle.questions == [
        word for asked in ("jaxpr", "hlo", "compiled", "checks") for word in ("begin", asked, "end")
    ]
    assert graph.graph is graph.jaxpr is handle
    assert a_graph(framework="torch", form="aten").attach(handle).jaxpr is None
    handle.questions.clear()
    compiled = a_graph(compiled=Compiled(None, None, 64, 0)).attach(handle, handle.around)
    assert (compiled.memory, handle.questions) == (64, [])  # it is not asked again
    assert difference(a_graph(), graph).text("hlo") == "hlo"
    assert handle.questions == ["begin", "jaxpr", "end", "begin", "hlo", "end"]


def test_a_record_has_its_own_stage_alone() -> None:
    x, y, c = (Value(name, "float32", (n,), 4 * n) for name, n in (("x", 1), ("y", 2), ("c", 4)))
    graph = a_graph(operations=3, inputs=(x,), outputs=(y,), constants=(c,))
    assert (graph.text(), graph.text("jaxpr"), graph.memory) == ("one\ntwo", "one\ntwo", None)
    assert (graph.graph, graph.jaxpr, graph.checks) == (None, None, ())
    assert (graph.bytes, repr(graph)) == (28, "<Graph f(x): 3 operations>")
    with pytest.raises(SnippetError, match="a saved record holds only the stage 'jaxpr':"):
        graph.text("hlo")


@pytest.mark.parametrize(
    ("framework", "form", "words"),
    [("jax", "jaxpr", "JAX has jaxpr, stablehlo, hlo, optimized"),
     ("torch", "aten", "PyTorch has aten, dynamo, export"),
     ("tensorflow", "tf", "TensorFlow has tf, stablehlo, hlo, optimized")],
)  # fmt: skip
def test_a_stage_that_a_framework_has_not_is_refused(framework: str, form: str, words: str) -> None:
    for graph in (a_graph(framework=framework, form=form),
                  a_graph(framework=framework, form=form).attach(Handle())):  # fmt: skip
        with pytest.raises(OptionError) as caught:
            graph.text("llvm")
        assert str(caught.value) == f"stage 'llvm': {words}"
    other = a_graph(framework="cupy", form="ptx")  # it has stages of its own
    assert other.text("ptx") == "one\ntwo"
    assert other.attach(Handle()).text("sass") == "sass"


def test_a_difference_shows_the_lines_that_differ_and_two_around_them() -> None:
    before = [f"line {n}" for n in range(9)]
    after = [*before[:4], "other", *before[5:]]
    found = difference(a_graph("\n".join(before)), a_graph("\n".join(after)))
    assert found.form == "jaxpr diff"
    assert found.program.splitlines()[2:] == [
        "@@ -3,5 +3,5 @@", " line 2", " line 3", "-line 4", "+other", " line 5", " line 6",
    ]  # fmt: skip
    assert difference(a_graph(), a_graph()).program == "the programs are identical"


def test_what_a_call_has_to_do_is_what_its_program_has(monkeypatch: pytest.MonkeyPatch) -> None:
    tracer, call = GraphTracer(FakeFramework()), Call.from_function(max, 1)
    value, handle = Value("x", "float32", (2,), 8), Handle()
    assert tracer.graph(call, GraphOptions()) is tracer.explain(ValueError()) is None
    assert (ProgramHandle.compiled(handle), ProgramHandle.checks(handle)) == (None, ())
    record = a_graph(inputs=(value,), outputs=(value,))
    for graph, work in (
        (None, None),
        (record, None),
        (replace(record).attach(handle), Workload({}, shortcuts=False, nbytes=16)),
    ):
        monkeypatch.setattr(GraphTracer, "graph", lambda *_, made=graph: made)
        assert tracer.workload(call) == work
