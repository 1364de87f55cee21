"""What was measured before: the history of this machine, and the records in saved notebooks.

`store` keeps a `HistoryEntry` for each measurement, `query_history` looks them up as a `History`,
and `find_baseline` finds the one that ``--against`` means. `read_notebook` reads all results that
a notebook holds; `compare_notebooks` says what takes longer in the second of two. Nothing that was
read is trusted or run. The magics, the Python API and the command line call this room.
"""

from ipyjaxbench.records.diff_notebooks import compare_notebooks
from ipyjaxbench.records.entry import (
    Location,
    find_comparisons,
    find_measurements,
    make_entries,
)
from ipyjaxbench.records.find_baseline import choose_baseline, find_baseline
from ipyjaxbench.records.history import History
from ipyjaxbench.records.options import HistoryOptions
from ipyjaxbench.records.query import query_history
from ipyjaxbench.records.store import Journal, make_history_notice
