"""Why PyTorch would not trace a call."""

from ipyjaxbench.diagnosis import Diagnosis
from ipyjaxbench.expression import Call
from ipyjaxbench.frameworks.torch.program import place_of

_BECAUSE = {
    "DataDependentOutputException": "a Python number is made of a tensor's value, and while tracing"
    " there are only shapes",
    "GuardOnDataDependentSymNode": "if, while or a shape asks for a tensor's value, and while"
    " tracing there are only shapes",
    "DynamicOutputShapeException": "the shape of a result depends on values, and shapes are fixed"
    " before values exist",
}
_ADVICE = {
    "DataDependentOutputException": "torch.where for if; keep the number as a tensor",
    "GuardOnDataDependentSymNode": "torch.where, or torch.cond",
    "DynamicOutputShapeException": "torch.where(mask, x, 0), which keeps the shape",
}


def diagnose(call: Call, error: Exception) -> Diagnosis:
    line, source = place_of(error)
    kind = type(error).__name__
    return Diagnosis(
        code=call.text,
        error=kind,
        message=(str(error).strip().splitlines() or [""])[0],
        line=line,
        source=source,
        because=_BECAUSE.get(kind, "the code raises while it is traced"),
        advice=_ADVICE.get(kind, ""),
    )
