"""Programs of calls, in PyTorch."""
