"""The ways in which code fails to trace: what is wrong, and what helps."""

from traceback import walk_tb

from ipyjaxbench.adapters.shared.diagnosis.describe import find_pitfalls
from ipyjaxbench.adapters.torch.graphs import fake_tensors
from ipyjaxbench.graphs import Pitfall

_SHAPES = "and while tracing there are only shapes"
_NO_VALUE = "DataDependentOutputException"

# fmt: off
_TRUTH = Pitfall((_NO_VALUE,), "",
    f"if or while asks for a tensor's value, {_SHAPES}",
    "torch.where, or torch.cond", asks=True)
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
    Pitfall((), r"\.numpy\(\) is not supported",
        f"NumPy asks for the numbers, {_SHAPES}",
        "the same functions of torch"),
    Pitfall(("Unsupported", "UserError"), "ata-dependent branching",
        f"if, while, and, or, not ask for a tensor's value, {_SHAPES}",
        "torch.where, or torch.cond", asks=True),
    Pitfall(("Unsupported", "UserError"), r"Tensor\.item\(\)",
        f"a Python number is made of a tensor's value, {_SHAPES}",
        "keep the number as a tensor, or torch._dynamo.config.capture_scalar_outputs = True",
        asks=True),
    Pitfall(("Unsupported", "UserError"), "Dynamic shape operator",
        "the shape of a result depends on values, and shapes are fixed before values exist",
        "torch.where(mask, x, 0), which keeps the shape", asks=True),
)
# fmt: on


def pitfall_of(error: Exception) -> Pitfall | None:
    """Return what kind of error it is; None for one that has nothing to do with tracing."""
    frames = (frame for frame, _ in walk_tb(error.__traceback__))
    if type(error).__name__ == _NO_VALUE and any(map(fake_tensors.truth_is_asked, frames)):
        return _TRUTH
    return next(find_pitfalls(_PITFALLS, error, str(error)), None)
