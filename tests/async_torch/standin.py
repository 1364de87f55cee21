"""The stand-in's device module, as ``torch.standin``, and how its operations are built."""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch.utils import cpp_extension

NAME = "standin"
SOURCES = Path(__file__).parent / "device"


def missing() -> str:
    """What is not here that building takes; "" where all is."""
    tools = {"a C++ compiler": "c++", "ninja": "ninja"}
    return " and ".join(what for what, name in tools.items() if shutil.which(name) is None)


def start() -> None:
    """Build what is not built yet, and have PyTorch know the device, for as long as it lives."""
    folder = Path(tempfile.gettempdir()) / f"ipyjaxbench-{NAME}-{torch.__version__}"
    folder.mkdir(exist_ok=True)
    cpp_extension.load(
        NAME, [str(SOURCES / "operators.cpp")], extra_cflags=["-O1"], build_directory=str(folder),
        is_python_module=False,
    )  # fmt: skip
    torch.utils.rename_privateuse1_backend(NAME)
    torch._register_device_module(NAME, sys.modules[__name__])
    torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)


# What PyTorch documents that such a module has; all else is asked of torch.accelerator.


def is_available() -> bool:
    return True


def is_initialized() -> bool:
    return any(torch.ops.standin.is_used(index) for index in range(device_count()))


def init() -> None:
    torch.empty(0, device=NAME)


def device_count() -> int:
    return 2


def current_device() -> int:
    return torch.accelerator.current_device_index()


def get_amp_supported_dtype() -> list[torch.dtype]:
    return [torch.bfloat16, torch.float16]


def _is_in_bad_fork() -> bool:
    return False


def _generator(device: Any) -> torch.Generator:
    index = torch.device(device).index
    return torch.ops.standin.default_generator(current_device() if index is None else index)


def get_rng_state(device: Any = NAME) -> torch.Tensor:
    return _generator(device).get_state()


def set_rng_state(new_state: torch.Tensor, device: Any = NAME) -> None:
    _generator(device).set_state(new_state)


def manual_seed_all(seed: int) -> None:
    for index in range(device_count()):
        _generator(f"{NAME}:{index}").manual_seed(seed)
