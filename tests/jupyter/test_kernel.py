"""`%fwtime` in a real kernel, as Run All and papermill run it."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from ipyjaxbench import Measurement
from ipyjaxbench.records import store
from ipyjaxbench.reports.result import MIME
from tests.jupyter.kernel import Kernel, run_all


@pytest.fixture(scope="module")
def book() -> nbformat.NotebookNode:
    return run_all(
        "%load_ext ipyjaxbench\nimport numpy as np\na = np.ones((30, 30))",
        "%fwtime -b 0.05 y = a @ a",
        "%%fwtime -b 0.05\nprint('first')\nz = y.sum()",
        "r = %fwtime -b 0.05 a + 1\nprint(type(r).__name__, z)",
        "with np.errstate(all='ignore'):\n    %fwtime -b 0.05 a / 0",
        "1\n\n%fwtime a / nothing",
        "never = 1",
    )


def test_each_magic_leaves_one_output_that_reads_back(book: nbformat.NotebookNode) -> None:
    for cell in book.cells[1:5]:
        (shown,) = [o for o in cell.outputs if o.output_type == "display_data"]
        assert set(shown.data) == {"text/plain", "text/html", MIME}
        assert Measurement.from_dict(dict(shown.data[MIME])).samples
    printed = [[o.text for o in c.outputs if o.output_type == "stream"] for c in book.cells[:5]]
    assert printed == [[], [], ["first\n"], ["Measurement 27000.0\n"], []]  # one call prints
    nbformat.validate(book)


def test_whatever_takes_long_says_so_and_leaves_one_clean_output(kernel: Kernel) -> None:
    first, *_, last = kernel.run("%%trace_cached\nimport time; time.sleep(2.5)").results
    assert re.sub(r"[\d.]+", "#", first["text/plain"]) == "running: # s so far"
    assert MIME in last


def test_an_error_stops_run_all_at_the_users_line(book: nbformat.NotebookNode) -> None:
    (error,) = book.cells[5].outputs
    assert (book.metadata["stopped_by"], error.ename) == ("NameError", "NameError")
    traceback = re.sub(r"\x1b\[[\d;]*m", "", "".join(error.traceback))
    assert "----> 3 a / nothing" in traceback
    assert book.cells[6].execution_count is None


def test_the_cell_that_a_page_names_is_kept_with_what_it_measured(
    kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    kernel.run(f"import os\nos.environ['JUPYTER_DATA_DIR'] = {str(tmp_path)!r}")
    code = "await __import__('asyncio').sleep(0)"
    content = {"code": f"%fwtime -b 0.05 --name base {code}", "silent": False}
    client: Any = kernel.client
    request = client.session.msg("execute_request", content, metadata={"cellId": "cell-7"})
    client.shell_channel.send(request)
    assert client._recv_reply(request["header"]["msg_id"], 60)["content"]["status"] == "ok"
    (entry,) = store.read_store().entries
    assert (entry.label, entry.where.cell) == ("base", "cell-7")
