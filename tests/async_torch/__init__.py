"""PyTorch on a device that works in the background, as GPUs do: two devices named "standin".

Their memory is the host's, and a thread for each stream does with the host's kernels what
`device/operators.cpp` hands on to it. Building that takes a C++ compiler and ninja:
``python -m pytest tests/async_torch``.
"""
