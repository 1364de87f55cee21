"""What each framework answers; loaded by name when its framework is in play.

`framework` is the core that the timer needs; every other file answers one question, and the files
have the same names in `jax`, `torch` and `tensorflow`: how PyTorch does it is in `adapters/torch`
under the name under which JAX does it in `adapters/jax`. What several of them use is in `shared`.
Nobody imports this room; only in here are the frameworks themselves imported.
"""
