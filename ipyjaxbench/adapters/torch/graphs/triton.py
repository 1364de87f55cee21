"""Whether PyTorch may import triton here: after TensorFlow that ends the process."""

import sys
from importlib.util import find_spec

from ipyjaxbench.errors import SnippetError


def refuse_after_tensorflow() -> None:
    """Stop before PyTorch imports triton, as it does to trace, where that aborts the process.

    TensorFlow makes the symbols of its LLVM visible to all libraries that are loaded after it, and
    triton's LLVM registers its options with them a second time. The other order is safe, and
    without triton PyTorch traces too.

    Raises:
        SnippetError: TensorFlow is imported, and triton is installed and not imported.
    """
    is_there = "triton" in sys.modules or find_spec("triton") is None
    if "tensorflow" in sys.modules and not is_there:
        raise SnippetError(
            "PyTorch imports triton to trace, and after TensorFlow that aborts the process"
            " (LLVM): restart, and import triton before tensorflow"
        )
