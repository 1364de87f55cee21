"""Causes by dynamo's guards: of the right program, the right condition, and all of them."""

from functools import partial
from string import Template

import numpy as np
import pytest
import torch

from ipyjaxbench.retracing.trace_log import TRACE_LOG
from tests.traced import observed

COMPILED = partial(torch.compile, backend="eager")
# What dynamo sets when it is first used: a variable, and a warning's filter.
COMPILED(torch.sin)(torch.ones(1))


def reasons(setup: str, cell: str) -> list[str]:
    """Why the calls of a cell were no hits, each in its words."""
    torch._dynamo.reset()
    TRACE_LOG.clear()
    names = {
        "torch": torch,
        "np": np,
        "X": torch.ones(4, 4),
        "compiled": COMPILED,
        "partial": partial,
    }
    exec(setup, names)
    return ["; ".join(c.words() for c in call.why) or call.state
            for call in observed(cell, names).calls]  # fmt: skip


LAYER = """
class Named:
    def __init__(self, mode): self.mode = mode
    def call(self, x): return x * 2 if self.mode == "a" else x + 1
class Layer(torch.nn.Module, Named):
    def __init__(self, mode): super().__init__(); self.mode = mode
    def forward(self, x): return self.call(x)
"""
FEWER_ROWS = "x: f32[4,4] → f32[2,4] (shape)"
NEW, OWN = "first call", "first program of this object"


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ("Named('a').call, Named('b').call", [NEW, OWN, FEWER_ROWS]),
        ("Layer('a'), Layer('b')", [NEW, OWN, FEWER_ROWS]),
        ("torch.nn.Linear(4, 4), torch.nn.Linear(4, 8)",
         [NEW, OWN, FEWER_ROWS.replace("x", "input")]),
        ("Layer('a'), Layer('a')", [NEW, "CACHED", FEWER_ROWS]),
        ("partial(torch.mul, other=2), partial(torch.add, other=2)",
         [NEW, NEW, FEWER_ROWS.replace("x", "arg0")]),
    ],
)  # fmt: skip
def test_programs_of_another_object_with_the_same_code_are_no_cause(
    objects: str, expected: list[str]
) -> None:
    cell = "first(X)\nsecond(X)\nfirst(X[:2])"
    assert reasons(f"{LAYER}\nfirst, second = map(compiled, ({objects}))", cell) == expected


WIDE = """
@partial(compiled, dynamic=True)
def f(x, y=0.0): return (x if x.shape[0] < 7 else x * 2) + y
"""


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("f(torch.ones(5, 3)); f(torch.ones(1, 3))", "2 <= x.size()[0]"),
        ("f(torch.ones(5, 3)); f(torch.ones(9, 3))", "x.size()[0] <= 6"),
        ("f(X, X + 1); f(X, X)", "the same tensor is in two places, where it was not before"),
    ],
)
def test_of_several_conditions_the_one_that_failed_is_told(cell: str, words: str) -> None:
    assert words in reasons(WIDE, cell)[-1]


TABLE = """
T = {"k": 3}
@partial(compiled, dynamic=False)
def f(x): return x * T["k"]
"""


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("with torch.no_grad(): f(X[:2])", "grad mode: on → off"),
        ("with torch.autocast('cpu'): f(X[:2])", "autocast: off → cpu torch.bfloat16"),
        ("with torch.device('meta'): f(X[:2])", "default device: cpu → meta"),
        (("torch.use_deterministic_algorithms(True, warn_only=True)\ntry: f(X[:2])\n"
          "finally: torch.use_deterministic_algorithms(False)"),
         ("deterministic algorithms: False → True;"
          " deterministic algorithms warn only: False → True")),
        ("with torch._C.DisableTorchFunctionSubclass(): f(X[:2])", "torch function: True → False"),
        ("T['k'] = 4; f(X[:2])", "global T['k']: 3 → 4 (static value)"),
    ],
)  # fmt: skip
def test_a_cause_that_is_no_argument_is_told_beside_one_that_is(cell: str, words: str) -> None:
    assert reasons(TABLE, f"f(X)\n{cell}") == [NEW, f"{FEWER_ROWS}; {words}"]


def test_a_value_that_is_computed_between_two_graphs_is_told_without_pytorchs_name() -> None:
    found = reasons("@compiled\ndef f(x): return x * x.sum().item()", "f(X); f(X + 1)")
    words = "what Python computed at the graph break was 16.0, and is another value"
    assert found == [NEW, words]


def test_what_a_program_takes_is_no_cause_beside_one_that_is_no_argument() -> None:
    assert reasons(TABLE.replace("False", "True"), "f(X[:3]); T['k'] = 4; f(X[:2])") == [
        NEW, "global T['k']: 3 → 4 (static value)",
    ]  # fmt: skip


HOOKED = """
class Net(torch.nn.Module):
    def forward(self, x): return x * 3
net = Net()
net.register_forward_hook(lambda module, args, output: output * 2)
f = partial(compiled, dynamic=False)(net)
"""


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("f(X)", "grad mode: on → off"),
        ("f(X)\nf(X[:2])", FEWER_ROWS),
        ("pass\nf(X[:2])", FEWER_ROWS),
    ],
)
def test_no_cause_of_a_module_with_hooks_is_told_twice(cell: str, words: str) -> None:
    assert reasons(HOOKED, f"f(X)\nwith torch.no_grad(): {cell}")[-1] == words


CONFIGURED = """
class Config: scale = 1.0
config = Config()
@compiled
def f(x, c=None, k=None): return x * getattr(c, "scale", 1.0) * (k[0] if k else 2)
"""


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("f(X[0]); f(X[0, :3]); f(X[0].double())", "x: f32[3] → f64[4] (dtype)"),
        ("f(X[0]); f(X[0, :3]); f(X)", "x: f32[3] → f32[4,4] (rank)"),
        ("f(X, config); config.new = 1; f(X[:2], config)", FEWER_ROWS),
        ("f(X, config); del Config.scale; config.scale = 2.0; f(X, config)",
         "c.scale was added"),
        ("f(X); f(X, k=[2])", "k: None → list (type)"),
        ("f(X, k=[2]); f(X)", "k: list → None (type)"),
        ("f(X, k=[2]); f(X, k=(2,))", "k: list → tuple"),
        ("f(X, k=[2]); f(X, k=[2, 3])", "k[1] was added"),
        ("f(X); f(torch.nn.Parameter(X))", "x: f32[4,4] → Parameter f32[4,4] (type)"),
    ],
)  # fmt: skip
def test_what_a_program_takes_is_no_cause(cell: str, words: str) -> None:
    assert reasons(CONFIGURED, cell)[-1] == words


COUNTING = """
n = 0
class Counter:
    def __init__(self): self.n = 0
    def step(self, x): self.n += 1; return x * self.n
counter = Counter()
step = partial(compiled, dynamic=False)(counter.step)
@partial(compiled, dynamic=False)
def f(x):
    global n; n += 1; return x + n
@compiled
def g(x, c): c.append(x); return x + len(c)
"""


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("step(X); step(X)", "self.n: 0 → 1 (static value)"),
        ("f(X); f(X)", "global n: 0 → 1 (static value)"),
        ("g(X, []); g(X, [X])", "c[0] was added"),
    ],
)
def test_a_call_is_told_by_what_it_began_with(cell: str, words: str) -> None:
    assert reasons(COUNTING, cell) == [NEW, words]


LIMITED = """
torch._dynamo.config.recompile_limit = 2
@partial(compiled, dynamic=False)
def f(x, n): return x * n
"""
GIVEN_UP = "for n in (2, 3, 4, 5): f(X, n)\n"
RAISED = "torch._dynamo.config.recompile_limit = 8\n"


@torch._dynamo.config.patch(recompile_limit=8)
def test_a_limit_that_is_raised_after_it_was_reached_helps_after_a_reset_alone() -> None:
    full = "recompile limit (2) reached; "
    given_up = "given up when the recompile limit was reached, which is 8 now; "
    assert reasons(LIMITED, f"{GIVEN_UP}{RAISED}f(X, 6); f(X, 2)")[2:] == [
        f"{full}n: 3 → 4 (static value)", f"{full}n: 3 → 5 (static value)",
        f"{given_up}n: 3 → 6 (static value)", "CACHED",
    ]  # fmt: skip
    reset = f"{GIVEN_UP}{RAISED}torch._dynamo.reset()\nf(X, 6); f(X, 7)"
    assert reasons(LIMITED, reset)[-2:] == [
        "first call since caches were cleared",
        "n: 6 → 7 (static value)",
    ]


MENDED = (
    ("@partial(compiled, dynamic=$dynamic)\ndef f(x): return x * 2",
     "f(torch.ones(4)); f(torch.ones(3)); f(torch.ones(2))",
     {"dynamic": "False"}, {"dynamic": "True"}),
    ("@partial(compiled, dynamic=$dynamic)\ndef f(a): return torch.from_numpy(a) * 2",
     "f(np.ones(3)); f(np.ones(4)); f(np.ones(5))", {"dynamic": "False"}, {"dynamic": "True"}),
    ("@compiled\ndef f(a): return torch.from_numpy(a) * 2",
     "f(np.ones(3)); f(np.ones(3, 'f')$cast)", {"cast": ""}, {"cast": ".astype('d')"}),
    (("class Named:\n    n = 0.5\n    def call(self, x): return x * self.n\n"
      "o = Named(); f = partial(compiled, dynamic=False)(o.call)"),
     "o.n = $old; f(X); o.n = $new; f(X)", {"old": "0.5", "new": "0.3"},
     {"old": "torch.tensor(0.5)", "new": "torch.tensor(0.3)"}),
    ("@partial(compiled, dynamic=False)\ndef f(x, n): return x * n",
     "f(X, $old); f(X, $new)", {"old": "2", "new": "3"},
     {"old": "torch.tensor(2)", "new": "torch.tensor(3)"}),
    (("T = {'k': 2}\n@partial(compiled, dynamic=False)\ndef f(x, k=None):\n"
      "    return x * (T['k'] if k is None else k)"), "f(X$old); T['k'] = 3; f(X$new)",
     {"old": "", "new": ""}, {"old": ", torch.tensor(2)", "new": ", torch.tensor(3)"}),
    ("@compiled\ndef f(x): return x * x.sum()$item", "f(X); f(X + 1)", {"item": ".item()"},
     {"item": ""}),
    ("def g(x): return x + 1\none = compiled(g); two = $other", "one(X); two(X)",
     {"other": "compiled(g, dynamic=True)"}, {"other": "one"}),
)  # fmt: skip


@pytest.mark.parametrize(("setup", "cell", "old", "new"), MENDED)
def test_what_is_advised_makes_the_next_call_a_hit(
    setup: str, cell: str, old: dict[str, str], new: dict[str, str]
) -> None:
    def states(values: dict[str, str]) -> list[str]:
        return reasons(*(Template(text).substitute(values) for text in (setup, cell)))[1:]

    assert "CACHED" not in states(old)
    assert {*states(new)} == {"CACHED"}
