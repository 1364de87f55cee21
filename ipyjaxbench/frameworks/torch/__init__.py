"""The adapter of PyTorch, and its parts."""

from ipyjaxbench.frameworks.torch.adapter import Torch as Torch
