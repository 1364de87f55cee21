"""PyTorch gives each warning in every test that causes it, and not in the first one alone."""

import torch

torch.set_warn_always(True)
