"""The setting by which PyTorch rounds products of float32."""

import torch

MIXED = "mixed"


def matmul_precision() -> str:
    """Return the setting for all backends; "mixed" where one has its own: PyTorch raises then."""
    try:
        return str(torch.get_float32_matmul_precision())
    except RuntimeError:
        return MIXED
