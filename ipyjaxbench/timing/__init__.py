"""Times one piece of code: first call, steady state, and what may mislead about the figure.

`measure.measure_snippet` is the whole flow. `session` makes the first call, plans the others and
puts back what they changed; `steady_state` warms up and takes samples with the calls that `runner`
makes; `validity` holds what may mislead. The comparison calls the same functions. `protocol` is
what an adapter offers beyond waiting. The magics, the Python API and the comparison call this room.
"""
