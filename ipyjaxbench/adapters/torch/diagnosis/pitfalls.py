"""The ways in which code fails to trace: what is wrong in words, and what helps."""

from traceback import walk_tb

from ipyjaxbench.adapters.torch.graphs import fake_tensors
from ipyjaxbench.graphs import Pitfall

_SHAPES = "and while tracing there are only shapes"
_NO_VALUE = "DataDependentOutputException"
_TRUTH = Pitfall(
    (_NO_VALUE,),
    "",
    f"if or while asks for a tensor's value, {_SHAPES}",
    "torch.where, or torch.cond",
    asks=True,
)

# fmt: off
_PITFALLS = (
    Pitfall(("GuardOnDataDependentSymNode",), "",
        f"if, while or a shape asks for a tensor's value, {_SHAPES}",
        "torch.where, or torch.cond", asks=True),
    Pitfall((_NO_VALUE,), "",
        f"a Python number is made of a tensor's value, {_SHAPES}",
        "torch.where for if; keep the number as a tensor", asks=True),
    Pitfall(("DynamicOutputShapeException",), "",
        "the shape of a result depends on values, and shapes are fixed before values exist",
        "torch.where(mask, x, 0), which keeps the shape", asks=True),
    Pitfall((), ".numpy() is not supported",
        f"NumPy asks for the numbers, {_SHAPES}",
        "the same functions of torch"),
    Pitfall(("Unsupported", "UserError"), "ata-dependent branching",
        f"if, while, and, or, not ask for a tensor's value, {_SHAPES}",
        "torch.where, or torch.cond", asks=True),
    Pitfall(("Unsupported", "UserError"), "Tensor.item()",
        f"a Python number is made of a tensor's value, {_SHAPES}",
        "keep the number as a tensor, or torch._dynamo.config.capture_scalar_outputs = True",
        asks=True),
    Pitfall(("Unsupported", "UserError"), "Dynamic shape operator",
        "the shape of a result depends on values, and shapes are fixed before values exist",
        "torch.where(mask, x, 0), which keeps the shape", asks=True),
)
# fmt: on


def pitfall_of(error: Exception) -> Pitfall | None:
    """What kind of error it is; None for one that has nothing to do with tracing."""
    if type(error).__name__ == _NO_VALUE and _asks_for_truth(error):
        return _TRUTH
    kinds = {kind.__name__ for kind in type(error).__mro__}
    fitting = (p for p in _PITFALLS if not p.errors or kinds.intersection(p.errors))
    return next((p for p in fitting if p.text in str(error)), None)


def _asks_for_truth(error: Exception) -> bool:
    return any(fake_tensors.truth_is_asked(frame) for frame, _ in walk_tb(error.__traceback__))
