"""Which kernels of a program XLA chose by running candidates on the GPU, by the program's text.

Where it tunes, XLA writes what it has chosen into the instruction: an algorithm of cuBLAS or cuDNN,
or the tiles of a Triton kernel (xla/service/gpu/autotuning/autotuner_pass.cc). Where tuning is
switched off it takes the first candidate, and writes that down in the same way.
"""

import os
import re
from collections import Counter

from ipyjaxbench.adapters.jax.graphs.library_calls import spell_library
from ipyjaxbench.graphs import instructions

_TARGET = re.compile(r'\bcustom_call_target="([^"]*)"')
_INSIDE = re.compile(r"\bcalls=%?([\w.\-]+)")
#: What stands in the configuration of a call of a library whose algorithm was chosen.
_CHOSEN = (("gemm_backend_config", '"selected_algorithm"'),
           ("cudnn_conv_backend_config", '"algo_id"'))  # fmt: skip
_TRITON = re.compile(r'"kind":"__triton_(?:nested_)?gemm(?:_fusion)?"')
_TILES = ('"triton_gemm_config"', '"block_level_fusion_config"')
#: Flags with which XLA takes the first candidate.
_OFF = re.compile(
    r"--xla_gpu_(?:autotune_level=0\b|(?:deterministic|exclude_nondeterministic)_ops(?!=(?:false|0)))"
)


def autotuned_kernels(text: str) -> dict[str, int]:
    """Count the kernels by kind whose variant was chosen by running candidates.

    XLA runs those of kernels alike once, and remembers what it has chosen, so that it may have run
    candidates of fewer.
    """
    if _OFF.search(os.environ.get("XLA_FLAGS", "")):
        return {}
    found = [*instructions(text)]
    fused = {name for each in found if each.opcode == "fusion"
             for name in _INSIDE.findall(each.text)}  # fmt: skip
    kinds = (_kind(each.opcode, each.text) for each in found if each.computation not in fused)
    return dict(Counter(kind for kind in kinds if kind))


def _kind(opcode: str, text: str) -> str:
    """Return the kind of a kernel that was chosen among candidates; "" for others."""
    target = _TARGET.search(text) if opcode == "custom-call" else None
    if target and any(config in text and chosen in text for config, chosen in _CHOSEN):
        return spell_library(target[1])
    is_triton = opcode == "fusion" and _TRITON.search(text) is not None
    return "triton gemm" if is_triton and any(each in text for each in _TILES) else ""
