"""Compares several pieces of code in interleaved rounds, and at many values of a name.

`cell` reads the arms of a cell; `interleave.compare_snippets` interleaves their samples, each an
`arm.Arm` on its own names; `run_sweep.sweep_snippets` does so at every point. `functions` makes
arms of Python functions. `fairness` looks for what arms do differently, `numerics` for results
that differ. The magics and the Python API call this room.
"""

from ipyjaxbench.comparison.arm import ArmSpec
from ipyjaxbench.comparison.cell import arm_labels, read_cell, transform_arms
from ipyjaxbench.comparison.comparison import ArmResult, Comparison
from ipyjaxbench.comparison.functions import compare
from ipyjaxbench.comparison.interleave import compare_snippets
from ipyjaxbench.comparison.name_bindings import names_restored
from ipyjaxbench.comparison.options import CompareOptions, check_labels
from ipyjaxbench.comparison.run_sweep import sweep_snippets, values_of
from ipyjaxbench.comparison.scaling import Kind, Scaling
from ipyjaxbench.comparison.sweep import Point, Sweep
