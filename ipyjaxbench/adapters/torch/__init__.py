"""The adapter of PyTorch, and its parts."""

from ipyjaxbench.adapters.torch.framework import Torch as Torch
