"""What was measured before: the history of this machine, and the records in saved notebooks.

`store` keeps a `HistoryEntry` for each measurement, `query_history` looks them up as a `History`,
and `find_baseline` finds the one that ``--against`` means. `StoreIndex` keeps an `EntryHead` of
each in memory for a server, and reads only what is new. A `Heartbeat` says in a file what is
measured now; a `LiveReader` reads that. `read_notebook` reads all results that a notebook holds;
`compare_notebooks` says what takes longer in the second of two. Nothing that was read is trusted or
run. The magics, the Python API and the command line call this room.
"""

from ipyjaxbench.records.diff_notebooks import compare_notebooks
from ipyjaxbench.records.entry import (
    EntryHead,
    HistoryEntry,
    Location,
    find_comparisons,
    find_measurements,
    make_entries,
)
from ipyjaxbench.records.export import to_csv, to_json_lines
from ipyjaxbench.records.find_baseline import choose_baseline, find_baseline
from ipyjaxbench.records.history import History
from ipyjaxbench.records.live import Heartbeat, LiveMeasurement, LiveReader
from ipyjaxbench.records.notebook_diff import Rerun
from ipyjaxbench.records.notebook_file import NotebookCell, NotebookFile, decode_notebook
from ipyjaxbench.records.notebooks import NotebookRecords, read_records
from ipyjaxbench.records.options import HistoryOptions
from ipyjaxbench.records.query import query_history
from ipyjaxbench.records.store import Journal, make_history_notice
from ipyjaxbench.records.store_index import StoreHeads, StoreIndex
