"""PyTorch's settings for the whole process: each is read, and put back where a call changed it."""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch

from ipyjaxbench.frameworks import Holder, Setting, State
from ipyjaxbench.usercode import is_of

_DEVICES = ("cpu", "cuda")  # that have an `autocast` of their own
_CUDA = torch.backends.cuda
_INVARIANTS = torch.sparse.check_sparse_tensor_invariants
_FUTURE = torch.__future__
_DISTRIBUTION = torch.distributions.Distribution

#: What is read and set by functions.
_PAIRS: tuple[tuple[str, Callable[[], Any], Callable[..., object]], ...] = (
    ("the default dtype", torch.get_default_dtype, torch.set_default_dtype),
    ("torch.get_num_threads()", torch.get_num_threads, torch.set_num_threads),
    ("torch.is_grad_enabled()", torch.is_grad_enabled, torch.set_grad_enabled),
    # PyTorch does not tell; half of the smallest normal number shows it.
    ("torch.set_flush_denormal()", lambda: sys.float_info.min / 2 == 0, torch.set_flush_denormal),
    ("torch.is_warn_always_enabled()", torch.is_warn_always_enabled, torch.set_warn_always),
    ("torch.is_autocast_cache_enabled()", torch.is_autocast_cache_enabled,
     torch.set_autocast_cache_enabled),
    ("flash_sdp_enabled()", _CUDA.flash_sdp_enabled, _CUDA.enable_flash_sdp),
    ("mem_efficient_sdp_enabled()", _CUDA.mem_efficient_sdp_enabled,
     _CUDA.enable_mem_efficient_sdp),
    ("math_sdp_enabled()", _CUDA.math_sdp_enabled, _CUDA.enable_math_sdp),
    ("cudnn_sdp_enabled()", _CUDA.cudnn_sdp_enabled, _CUDA.enable_cudnn_sdp),
    ("checks of sparse tensors", _INVARIANTS.is_enabled,
     lambda on: _INVARIANTS.enable() if on else _INVARIANTS.disable()),
    ("overwriting of modules' parameters", _FUTURE.get_overwrite_module_params_on_conversion,
     _FUTURE.set_overwrite_module_params_on_conversion),
    ("swapping of modules' parameters", _FUTURE.get_swap_module_params_on_conversion,
     _FUTURE.set_swap_module_params_on_conversion),
    ("checks of arguments of distributions", lambda: getattr(_DISTRIBUTION, "_validate_args", None),
     _DISTRIBUTION.set_default_validate_args),
    ("the strategy of sharing tensors", torch.multiprocessing.get_sharing_strategy,
     torch.multiprocessing.set_sharing_strategy),
)  # fmt: skip
#: Attributes that functions stand behind. Those of one number for several backends come first: to
#: set one sets those of the backends too, which come back after it.
_FLAGS = (
    ("torch.backends.cuda.matmul", ("allow_tf32", "allow_fp16_reduced_precision_reduction",
                                    "allow_bf16_reduced_precision_reduction",
                                    "allow_fp16_accumulation")),
    ("torch.backends.cudnn", ("allow_tf32", "enabled", "benchmark", "benchmark_limit",
                              "deterministic")),
    ("torch.backends.mkldnn", ("allow_tf32", "enabled", "deterministic")),
    ("torch.backends.miopen", ("immediate",)),
    ("torch.backends.quantized", ("engine",)),
    *((f"torch.backends{place}", ("fp32_precision",)) for place in (
        "", ".cudnn", ".mkldnn", ".cuda.matmul", ".cudnn.conv", ".cudnn.rnn", ".mkldnn.matmul",
        ".mkldnn.conv", ".mkldnn.rnn")),
)  # fmt: skip


def settings() -> Iterator[tuple[str, State]]:
    """Yield dtypes, threads, modes, flags of backends, and how tensors are printed."""
    for name, read, write in _PAIRS:
        yield name, Setting(_listed(read), _unlisted(write))
    yield "deterministic algorithms", Setting(_read_deterministic, _write_deterministic)
    yield "torch.is_anomaly_enabled()", Setting(_read_anomaly, _write_anomaly)
    yield "the default device", Setting(_read_device, _unlisted(torch.set_default_device))
    for device in _DEVICES:
        yield f"autocast on {device}", _autocast(device)
    yield (
        "torch.get_float32_matmul_precision()",
        Setting(
            lambda: [_known(torch.get_float32_matmul_precision)],
            lambda values: _set_known(torch.set_float32_matmul_precision, *values),
        ),
    )
    for path, names in _FLAGS:
        yield from _flags(path, names)
    yield "print options", Holder(None, [torch._tensor_str.PRINT_OPTS])
    yield "hooks of all modules", Holder(None, [*_hooks_of_all()])


def _hooks_of_all() -> Iterator[dict[Any, Any]]:
    held = vars(torch.nn.modules.module).items()
    yield from (each for name, each in held if name.startswith("_global_") and is_of(each, dict))


def _listed(read: Callable[[], Any]) -> Callable[[], list[Any]]:
    return lambda: [read()]


def _unlisted(write: Callable[..., object]) -> Callable[[list[Any]], object]:
    return lambda values: write(*values)


def _read_deterministic() -> list[bool]:
    return [
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
    ]


def _write_deterministic(values: list[bool]) -> None:
    is_on, only_warns = values
    torch.use_deterministic_algorithms(is_on, warn_only=only_warns)


def _read_anomaly() -> list[bool]:
    return [torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()]


def _write_anomaly(values: list[bool]) -> None:
    torch.autograd.set_detect_anomaly(*values)


def _read_device() -> list[Any]:
    # Private: where none was set, `torch.get_default_device` tells one, and to set that one puts
    # a mode around all operations.
    return [getattr(sys.modules.get("torch.utils._device"), "CURRENT_DEVICE", None)]


def _autocast(device: str) -> Setting:
    def write(values: list[Any]) -> None:
        torch.set_autocast_enabled(device, values[0])
        torch.set_autocast_dtype(device, values[1])

    return Setting(
        lambda: [torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)], write
    )


def _flags(path: str, names: tuple[str, ...]) -> Iterator[tuple[str, State]]:
    """Yield those of a backend that this version has."""
    owner: Any = torch
    for part in path.split(".")[1:]:
        owner = getattr(owner, part, None)
    for name in names:
        try:
            flag = _flag(owner, name)
        except AttributeError:  # of another version
            continue
        yield f"{path}.{name}", flag


def _flag(owner: Any, name: str) -> Setting:
    return Setting(
        lambda: [_known(lambda: getattr(owner, name))],
        lambda values: _set_known(lambda value: setattr(owner, name, value), *values),
    )


def _known(read: Callable[[], Any]) -> Any:
    """Return what a function reads; None where settings of two kinds disagree: it raises then."""
    try:
        return read()
    except RuntimeError:
        return None


def _set_known(write: Callable[[Any], object], value: Any) -> None:
    if value is not None:
        write(value)
