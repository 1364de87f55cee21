"""Code of ours that dynamo is to leave as it is, so that it runs in each call of the user's."""

from typing import Any

from torch._C import _dynamo

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import CallCompiler


def leave_uncompiled(function: Any) -> CallCompiler | None:
    """Have dynamo skip a function, and return what turns it off for what that calls.

    All of it is private; None where it is not there.
    """
    own: Any = getattr(_dynamo, "eval_frame", None)
    try:
        if hasattr(own, "skip_code"):  # in PyTorch 2.6
            own.skip_code(function.__code__)
        else:
            kind = own._FrameAction
            strategy = own._FrameExecStrategy(kind.SKIP, kind.DEFAULT)
            own.set_code_exec_strategy(function.__code__, strategy)
        vars(function)["_torchdynamo_disable"] = True  # nor is it made part of what calls it
        return CallCompiler("torch.compile", own.set_eval_frame)
    except CODE_ERRORS:  # another version
        return None
