"""PyTorch gives each warning in every test that causes it, and not in the first one alone."""

import gc

import torch
import torch._dynamo  # changes the environment when it is loaded

torch.set_warn_always(True)
# Looking through all that libraries keep takes long; what modules of tests make comes later.
gc.freeze()
