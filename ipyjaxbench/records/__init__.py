"""What was measured before: the history, saved notebooks, and the benchmarks of test suites.

`store` keeps a `HistoryEntry` for each measurement, `query_history` looks them up, `find_baseline`
finds what ``--against`` means, `find_commits` orders them by commit; a `StoreIndex` serves heads of
them. A `Heartbeat` says what is measured now. `read_notebook` reads what a notebook holds, and
`compare_files` says what takes longer in the second of two runs. `export`, `bencher` and `markdown`
write for other programs. Nothing that was read is trusted or run. The magics, the Python API, the
command line and the fixture ``fwbench`` call this room.
"""

from ipyjaxbench.records.bencher import to_bencher
from ipyjaxbench.records.benchmark_change import Baseline
from ipyjaxbench.records.benchmark_file import read_benchmarks, write_benchmarks
from ipyjaxbench.records.benchmarks import Benchmark, Benchmarks
from ipyjaxbench.records.commits import Commits
from ipyjaxbench.records.diff_benchmarks import compare_files
from ipyjaxbench.records.diff_notebooks import compare_notebooks
from ipyjaxbench.records.entry import (
    EntryHead,
    HistoryEntry,
    Location,
    RelativeTime,
    find_comparisons,
    find_measurements,
    make_entries,
)
from ipyjaxbench.records.export import to_csv, to_json_lines
from ipyjaxbench.records.find_baseline import choose_baseline, find_baseline
from ipyjaxbench.records.find_commits import find_commits
from ipyjaxbench.records.history import History
from ipyjaxbench.records.live import Heartbeat, LiveMeasurement, LiveReader
from ipyjaxbench.records.markdown import to_markdown
from ipyjaxbench.records.notebook_diff import Rerun
from ipyjaxbench.records.notebooks import NotebookRecords, read_records
from ipyjaxbench.records.options import HistoryOptions
from ipyjaxbench.records.programs import keep_programs
from ipyjaxbench.records.query import query_history
from ipyjaxbench.records.store import Journal, make_history_notice
from ipyjaxbench.records.store_index import StoreHeads, StoreIndex
