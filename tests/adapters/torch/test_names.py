"""Names that PyTorch's compiler keeps in the session stay, whatever a magic runs."""

from collections.abc import Iterator

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded

from tests.shell import Shell

#: It breaks the graph, so that the compiler keeps a function for what follows too.
CODE = """\
import torch
def f(q):
    q = torch.sin(q) + 1
    torch._dynamo.graph_break()
    return q * 2
compiled = torch.compile(f, backend="eager")
x, longer = torch.ones(5), torch.ones(7)
"""
USES = {
    "arms": "%%fwcompare -q -b 0.05\na: compiled(x)\nb: f(x)",
    "an arm that fails": "%%fwcompare -q --keep-going -b 0.05\na: compiled(x)\nb: 1 / 0",
    "a sweep": "%%fwcompare -q -b 0.05 --sweep n=3,5\ny = x[:n]\na: compiled(y)\nb: f(y)",
    "%fwtime": "%fwtime -q -b 0.05 compiled(x)",
    "%%trace_cached": "%%trace_cached -q\ncompiled(x)",
}


@pytest.fixture
def defined(shell: Shell) -> Iterator[Shell]:
    shell.run(CODE)
    yield shell
    torch._dynamo.reset()


@pytest.mark.parametrize("use", USES)
def test_a_compiled_function_can_be_called_afterwards(defined: Shell, use: str) -> None:
    defined.run(USES[use])
    defined.run("again = compiled(x)")
    assert torch.equal(defined.names["again"], defined.names["f"](torch.ones(5)))
