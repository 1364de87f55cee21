"""Settings of PyTorch that change what a figure means."""

import sys
from collections.abc import Iterator
from typing import Any

import torch

from ipyjaxbench.adapters.shared.matmul_precision import may_multiply, note_rounding
from ipyjaxbench.adapters.torch.placement import SHAPES_ONLY
from ipyjaxbench.adapters.torch.precision import MIXED, matmul_precision
from ipyjaxbench.reports import GOOD_TO_KNOW, Note
from ipyjaxbench.timing import (
    Caveats,
    CodeFacts,
    note_processes,
    note_recorded,
    note_setting_on,
    note_shapes_only,
    note_watched,
)

#: Where one of these is in the code, it makes a backward pass.
_BACKWARD = {"backward", "grad", "vjp", "jacobian", "jacrev", "hessian", "value_and_grad"}


class TorchCaveats(Caveats):
    """Stale programs, shapes alone, autograd's records, debugging modes, processes, rounding."""

    def caveats(self, code: CodeFacts) -> Iterator[Note]:
        """Yield all that there is to say."""
        yield from self._stale_programs(code)
        if any(p.devices == (SHAPES_ONLY,) for p in code.outputs):
            yield note_shapes_only()
        if _is_recorded(code) and not _goes_backward(code):
            yield note_recorded("Autograd", "wrap it in  with torch.no_grad(): ...")
        yield from _note_rounding(code)
        yield from _modes(code)
        if _profiling():
            yield note_watched("torch.profiler")
        yield from _processes()

    def _stale_programs(self, code: CodeFacts) -> Iterator[Note]:
        """Yield a note where a module that the code calls got hooks since it was compiled."""
        listener = sys.modules.get("ipyjaxbench.adapters.torch.retracing.lacking_hooks")
        if listener is not None and listener.may_be_any():
            from ipyjaxbench.adapters.shared.stale_programs import note_stale_programs
            from ipyjaxbench.adapters.torch.retracing.call_watch import TorchCallWatch

            yield from note_stale_programs(TorchCallWatch(self.framework), code)


def _note_rounding(code: CodeFacts) -> Iterator[Note]:
    """Yield a note on the first device that rounds."""
    for device in code.devices("torch", "float32"):
        setting, advice = _precision(device.partition(":")[0])
        if setting and may_multiply(code, torch.nn.Module):
            rounding = [*note_rounding(_multiply, device, setting, advice)]
            yield from rounding
            if rounding:
                return


def _multiply(device: str, left: Any, right: Any) -> Any:
    with torch.no_grad():
        a, b = (torch.from_numpy(each).to(device) for each in (left, right))
        return (a @ b).to("cpu", torch.float64).numpy()


def _is_recorded(code: CodeFacts) -> bool:
    return any(p.recorded for p in code.outputs)


def _goes_backward(code: CodeFacts) -> bool:
    return not code.words.isdisjoint(_BACKWARD)


def _precision(kind: str) -> tuple[str, str]:
    """Return the setting that may round products on this kind of device, and the advice."""
    if torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind):
        name = str(torch.get_autocast_dtype(kind)).removeprefix("torch.")
        return f"torch.autocast computes them in {name}", "time it outside of torch.autocast"
    advice = 'torch.set_float32_matmul_precision("highest")'
    setting = matmul_precision()
    if setting not in ("highest", MIXED):
        return f'torch.get_float32_matmul_precision() is "{setting}"', advice
    of_backend = _backend_setting(kind)
    if of_backend in ("tf32", "bf16"):
        name = f"torch.backends.{'mkldnn' if kind == 'cpu' else 'cuda'}.matmul.fp32_precision"
        return f'{name} is "{of_backend}"', f'{name} = "ieee"'
    return "", ""


def _backend_setting(kind: str) -> str | None:
    """Return the newer setting of each backend, from 2.9 on."""
    backends: dict[str, Any] = {"cpu": torch.backends.mkldnn, "cuda": torch.backends.cuda}
    matmul = getattr(backends.get(kind), "matmul", None)
    try:
        return getattr(matmul, "fp32_precision", None)
    except Exception:  # noqa: BLE001  some refuse to answer, with errors of many kinds
        return None


def _profiling() -> bool:
    enabled = getattr(torch.autograd, "_profiler_enabled", None)
    return enabled is not None and bool(enabled())


def _modes(code: CodeFacts) -> Iterator[Note]:
    if torch.is_anomaly_enabled() and (_is_recorded(code) or _goes_backward(code)):
        yield note_setting_on(
            "Anomaly detection",
            "autograd records where each operation was called and checks every gradient",
            "torch.autograd.set_detect_anomaly(False)",
        )
    if torch.are_deterministic_algorithms_enabled():
        yield note_setting_on(
            "torch.use_deterministic_algorithms",
            "some operations use slower algorithms",
            "torch.use_deterministic_algorithms(False)",
            mark=GOOD_TO_KNOW,
        )
    config: Any = sys.modules.get("torch._dynamo.config")
    compiled = any(
        "_torchdynamo_orig_callable" in getattr(f, "__dict__", {}) for f in code.compiled
    )
    if compiled and getattr(config, "disable", False):
        yield note_setting_on(
            "torch._dynamo.config.disable",
            "torch.compile compiles nothing new",
            "torch._dynamo.config.disable = False, or restart without TORCH_COMPILE_DISABLE",
        )


def _processes() -> Iterator[Note]:
    group: Any = torch.distributed
    if group.is_available() and group.is_initialized() and group.get_world_size() > 1:
        yield note_processes(group.get_world_size(), group.get_rank())
