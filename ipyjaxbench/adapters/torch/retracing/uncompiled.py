"""Why dynamo compiled nothing of a function, and why it does not try again."""

from types import CodeType
from typing import Any

from ipyjaxbench.adapters.torch.compile_events import recorded
from ipyjaxbench.adapters.torch.graphs.dynamo import describe_break
from ipyjaxbench.adapters.torch.retracing.callee import Entered
from ipyjaxbench.adapters.torch.retracing.frames import attribute
from ipyjaxbench.retracing import Change

#: Names what `torch.compiler.reset` has compiled again, in the place of a path.
SKIPPED = "skipped"
_UNABLE = "nothing was compiled"
_NO_OPERATIONS = "PyTorch found no operations to compile"


def unable(reason: str = "") -> Change:
    """Return that nothing was compiled in a call, for dynamo's reason."""
    return Change("guard", new=f"{_UNABLE}: {describe_break(reason) if reason else _NO_OPERATIONS}")


def skipped(function: Any) -> Change:
    """Return that dynamo does not even look at the code of a function any more, and since when."""
    entered = Entered.from_function(function)
    entry = _latest(entered.code) if entered is not None else None
    if entry is None or attribute(entry, "graph_op_count"):
        return Change("guard", new=f"{_UNABLE}: PyTorch skips this function")
    reason = attribute(entry, "fail_reason")
    why = f"failed: {describe_break(str(reason))}" if reason else "found no operations to compile"
    new = f"{_UNABLE}: PyTorch skips it since an earlier call, which {why}"
    return Change("guard", SKIPPED, new=new)


def _latest(code: CodeType) -> Any:
    """Return the newest entry of dynamo's record that is of some code, if it is there still."""
    place = code.co_name, code.co_filename, code.co_firstlineno
    names = "co_name", "co_filename", "co_firstlineno"
    own = (e for e in reversed(recorded()) if tuple(attribute(e, n) for n in names) == place)
    return next(own, None)
