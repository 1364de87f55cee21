"""The file of ``--trace``: the profiled pass as a picture that ui.perfetto.dev shows.

`timeline` collects what the pass did, in nanoseconds of our clock: phases of the calls, the
user's lines (`line_recorder`) and operations. `events` makes events of that, `file` writes them.
"""
