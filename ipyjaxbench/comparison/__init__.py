"""Compares several pieces of code in interleaved rounds, and at many values of a name.

`cell` reads the arms that a cell holds; `interleave.compare_snippets` samples them in turns, each
an `arm.Arm` on its own names, and `run_sweep.sweep_snippets` does so at every point. `fairness`
looks for what arms do differently, `numerics` for results that differ. The magics and the Python
API call this room.
"""
