"""What loading costs."""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence

from tests.accuracy.section import Column, Row, Section

_PER_ROUND = 3
_CODE = """
import sys, time
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
start = time.perf_counter()
import ipyjaxbench
imported = time.perf_counter()
shell.run_line_magic("load_ext", "ipyjaxbench")
loaded = time.perf_counter()
heavy = [name for name in ("numpy", "rich", "jinja2", "msgspec", "jax", "torch", "tensorflow")
         if name in sys.modules]
print(imported - start, loaded - imported, ",".join(heavy) or "none")
"""


def measure(group: str, rounds: int) -> Iterator[Row]:
    """One row."""
    runs = []
    command = [sys.executable, "-c", _CODE]
    with tempfile.TemporaryDirectory() as folder:
        # Compiled once, as the files of an installed package are.
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = folder
        for _ in range(1 + _PER_ROUND * rounds):
            done = subprocess.run(
                command, capture_output=True, text=True, check=True, env=environment
            )
            runs.append(done.stdout.split())
    del runs[0]
    imported, loaded = (statistics.median(float(run[i]) for run in runs) for i in (0, 1))
    yield {"group": group, "name": "import, %load_ext", "import": imported * 1e3,
           "load": loaded * 1e3, "heavy": runs[0][2]}  # fmt: skip


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        yield f"Together {row['import'] + row['load']:.1f} ms."


LOADING = Section(
    name="loading",
    title="What does loading cost?",
    method="New processes, in which only IPython was loaded before; compiled files are there, as"
    " after an installation. Medians.",
    columns=(
        Column("import, ms", 10, "of the package", "{import:.1f}"),
        Column("%load_ext, ms", 13, "after that", "{load:.1f}"),
        Column("heavy modules", 13, "loaded by the two", "{heavy}"),
    ),
    summary=_summary,
    measure=measure,
    groups=("python",),
)
