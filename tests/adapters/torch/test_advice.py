"""What to write so that torch.compile does not compile again, by what changed."""

import pytest

from ipyjaxbench.adapters.torch.retracing.advice import fixes
from ipyjaxbench.retracing import Change

DYNAMIC = "Use `torch.compile(..., dynamic=True)`"
NUMBER = "Pass `n` as a tensor (`torch.tensor(n)`): its value is then not guarded"
LIMIT = "If all these programs are needed, raise `torch._dynamo.config.recompile_limit`"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (Change("shape", "x", "f32[3,4]", "f32[3,5]"),
         f"{DYNAMIC}, or `torch._dynamo.mark_dynamic(x, 1)` before the first call"),
        (Change("shape", "x", "f32[3,4]", "f32[4,5]"),
         f"{DYNAMIC}, or `torch._dynamo.mark_dynamic(x, [0, 1])` before the first call"),
        (Change("shape", "size 2 of x", "4", "8"),
         f"{DYNAMIC}, or `torch._dynamo.mark_dynamic(x, 2)` before the first call"),
        (Change("shape", "x", "?", "f32[4]"), DYNAMIC),
        (Change("layout", "x", "contiguous", "strides (1, 4)"),
         "Call `x.contiguous()` before the call"),
        (Change("layout", "stride 0 of x", "4", "1"), "Call `x.contiguous()` before the call"),
        (Change("layout", "x", "contiguous", "contiguous, requires_grad"),
         "Pass `x` always with, or always without, requires_grad"),
        (Change("static value", "self.training", "True", "False"),
         "Call `model.eval()` or `model.train()` once, before all calls"),
        (Change("static value", "net.0.training", "True", "False"),
         "Call `net.eval()` or `net.train()` once, before all calls"),
        (Change("number", "x.training", "1", "2"),
         NUMBER.replace("`n`", "`x.training`").replace("(n)", "(x.training)")),
        (Change("number", "global G", "3", "4"),
         "Pass `G` as an argument, as a tensor if it changes"),
        (Change("number", "n", "2", "3"), NUMBER),
        (Change("number", "n", "True", "3"), NUMBER),
        (Change("number", "n", "True", "False"),
         "Each `n` needs its own program: keep it constant, or use torch.where"),
        (Change("static value", "n", "True", "False"),
         "Each new `n` needs its own program: choose it outside the compiled function"),
        (Change("rank", "x", "f32[3]", "f32[3,3]"), "Always pass `x` with the same number of axes"),
        (Change("setting", "grad mode", "on", "off"), "Always call `f` with the same grad mode"),
    ],
)  # fmt: skip
def test_a_fix_goes_by_what_changed(change: Change, text: str) -> None:
    assert fixes("f", [change]) == (text,)


def test_what_has_no_fix_is_left_out_each_is_said_once_and_raising_the_limit_comes_last() -> None:
    odd = Change("guard", "x", new="x is a different object")
    limit = Change("guard", "limit", new="recompile limit (8) reached")
    number = Change("number", "n", "2", "3")
    assert fixes("f", [odd]) == ()
    assert fixes("f", [limit, number, odd, number]) == (NUMBER, LIMIT)
    assert fixes("f", [limit]) == (LIMIT,)
