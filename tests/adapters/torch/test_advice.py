"""What to write so that torch.compile does not compile again, by what changed."""

import pytest

from ipyjaxbench.adapters.torch.retracing.advice import fixes
from ipyjaxbench.retracing import Change

DYNAMIC = "torch.compile(..., dynamic=True)"
NUMBER = "n as a tensor, as in torch.tensor(n): its value is then not looked at"
LIMIT = "torch._dynamo.config.recompile_limit, raised, only where all these programs are needed"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (Change("shape", "x", "f32[3,4]", "f32[3,5]"),
         f"torch._dynamo.mark_dynamic(x, 1) before the first call, or {DYNAMIC}"),
        (Change("shape", "x", "f32[3,4]", "f32[4,5]"),
         f"torch._dynamo.mark_dynamic(x, [0, 1]) before the first call, or {DYNAMIC}"),
        (Change("shape", "size 2 of x", "4", "8"),
         f"torch._dynamo.mark_dynamic(x, 2) before the first call, or {DYNAMIC}"),
        (Change("shape", "x", "?", "f32[4]"), DYNAMIC),
        (Change("layout", "x", "contiguous", "strides (1, 4)"), "x.contiguous() before the call"),
        (Change("layout", "stride 0 of x", "4", "1"), "x.contiguous() before the call"),
        (Change("layout", "x", "contiguous", "contiguous, requires_grad"),
         "give x always with, or always without, requires_grad"),
        (Change("static value", "self.training", "True", "False"),
         "model.eval() or model.train() once, before all calls"),
        (Change("static value", "net.0.training", "True", "False"),
         "net.eval() or net.train() once, before all calls"),
        (Change("number", "x.training", "1", "2"),
         NUMBER.replace("n as", "x.training as").replace("(n)", "(x.training)")),
        (Change("number", "global G", "3", "4"),
         "give G as an argument, a tensor where it changes"),
        (Change("number", "n", "2", "3"), NUMBER),
        (Change("number", "n", "True", "3"), NUMBER),
        (Change("number", "n", "True", "False"),
         "one program for each n: keep it the same, or use torch.where on a tensor"),
        (Change("static value", "n", "True", "False"),
         "one program for each n: choose it outside of the compiled function"),
        (Change("rank", "x", "f32[3]", "f32[3,3]"), "give x always with as many axes"),
        (Change("setting", "grad mode", "on", "off"), "call f always with the same grad mode"),
    ],
)  # fmt: skip
def test_a_fix_goes_by_what_changed(change: Change, text: str) -> None:
    assert fixes("f", [change]) == (text,)


def test_what_has_no_fix_is_left_out_and_each_is_said_once() -> None:
    odd = Change("guard", "x", new="x is another object")
    number = Change("number", "n", "2", "3")
    assert fixes("f", [odd]) == ()
    assert fixes("f", [number, odd, number]) == (NUMBER,)


def test_raising_the_limit_comes_last() -> None:
    limit = Change("guard", "limit", new="the recompile limit of 8 is reached")
    assert fixes("f", [limit, Change("number", "n", "2", "3")]) == (NUMBER, LIMIT)
    assert fixes("f", [limit]) == (LIMIT,)
