"""The ways in which code fails to trace: what is wrong, and what helps."""

from traceback import walk_tb

from ipyjaxbench.adapters.shared.diagnosis.describe import failing_expression, find_pitfalls
from ipyjaxbench.adapters.torch.graphs import fake_tensors
from ipyjaxbench.graphs import Pitfall

_ONLY_SHAPES = "but during tracing only shapes and dtypes are known."
_RESULT_SIZE = (
    f"The size of {failing_expression('the result')} depends on the data; shapes must be known"
    " before the values."
)
_CONTROL_FLOW = (
    f"Python's control flow needs the value of {failing_expression('a condition')}, {_ONLY_SHAPES}"
)
_SELECT = "Use torch.where or torch.cond."
_KEEP_SHAPE = "Use torch.where(mask, x, 0), which keeps the shape."
_LOOP = "Make a fixed number of steps, and use torch.where to stop changing what is done."
_NO_VALUE = "DataDependentOutputException"
_NEEDS_VALUE = (_NO_VALUE, "GuardOnDataDependentSymNode")
_WHILE = r"^while\b"
_NO_CONDITION = r"^(?!.*\b(if|elif|while|assert|and|or|not)\b)"
_NUMBER = f"{failing_expression('A Python number')} needs a tensor's value, {_ONLY_SHAPES}"

# fmt: off
#: Of what is asked whether it is true.
_TRUTHS = (
    Pitfall((_NO_VALUE,), "", _CONTROL_FLOW, _LOOP, _WHILE, asks=True),
    Pitfall((_NO_VALUE,), "", _CONTROL_FLOW, _SELECT, asks=True),
)
_PITFALLS = (
    Pitfall(_NEEDS_VALUE, "", _NUMBER,
        "Take a fixed number of elements, as with x[i + torch.arange(2)] instead of x[i : i + 2]."
        " Or keep the shape with torch.where.",
        _NO_CONDITION, asks=True, expression=r"\[[^\[\]]*:[^\[\]]*\]$"),
    Pitfall(_NEEDS_VALUE, "", _NUMBER,
        "Use torch.index_select(x, 0, i). Make a list a tensor first, with torch.stack or"
        " torch.tensor.",
        _NO_CONDITION, asks=True, expression=r"\]$"),
    Pitfall(_NEEDS_VALUE, "", _NUMBER,
        "Pass the number of steps as a Python number, or compute it outside the function.",
        _NO_CONDITION, asks=True, expression=r"^range\("),
    Pitfall(_NEEDS_VALUE, "", _NUMBER,
        "Leave tolist() out, and compute with the tensor.", asks=True, expression=r"\.tolist\(\)$"),
    Pitfall(("GuardOnDataDependentSymNode",), "",
        f"A while needs a tensor's value, {_ONLY_SHAPES}",
        _LOOP, _WHILE, asks=True),
    Pitfall(("GuardOnDataDependentSymNode",), "",
        f"An if, a while or a shape needs a tensor's value, {_ONLY_SHAPES}",
        _SELECT, asks=True),
    Pitfall((_NO_VALUE,), "",
        _NUMBER,
        "Keep the number as a tensor, and use torch.where instead of if.", asks=True),
    Pitfall(("DynamicOutputShapeException",), "", _RESULT_SIZE, _KEEP_SHAPE, asks=True),
    Pitfall((), r"\.numpy\(\) is not supported",
        f"{failing_expression('NumPy')} needs the tensor's values, {_ONLY_SHAPES}",
        "Use the torch functions of the same name."),
    Pitfall(("RuntimeError",), "its data is not allocated yet",
        f"{failing_expression('torch.tensor')} needs the tensor's values, {_ONLY_SHAPES}",
        "Make one of several with torch.stack([a, b])."),
    Pitfall(("Unsupported", "UserError"), "ata-dependent branching",
        _CONTROL_FLOW,
        _LOOP, _WHILE, asks=True),
    Pitfall(("Unsupported", "UserError"), "ata-dependent branching",
        _CONTROL_FLOW,
        _SELECT, asks=True),
    Pitfall(("Unsupported", "UserError"), r"Tensor\.item\(\)",
        _NUMBER,
        "Keep the number as a tensor, or set torch._dynamo.config.capture_scalar_outputs = True.",
        asks=True),
    Pitfall(("Unsupported", "UserError"), "Dynamic shape operator", _RESULT_SIZE, _KEEP_SHAPE,
        asks=True),
)
# fmt: on


def pitfall_of(error: BaseException, source: str = "", expression: str = "") -> Pitfall | None:
    """Return what kind of error it is; None for one that has nothing to do with tracing.

    Args:
        error: what was raised.
        source: the failing line.
        expression: that failed in it; both are empty where they are not known.
    """
    frames = (frame for frame, _ in walk_tb(error.__traceback__))
    if type(error).__name__ == _NO_VALUE and any(map(fake_tensors.truth_is_asked, frames)):
        return next(find_pitfalls(_TRUTHS, error, "", source))
    found = find_pitfalls(_PITFALLS, error, str(error), source, expression=expression)
    return next(found, None)
