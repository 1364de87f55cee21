"""`%fwtime` in a real kernel."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from ipyjaxbench import Measurement
from ipyjaxbench.records import store
from ipyjaxbench.reports.result import MIME
from tests.jupyter.kernel import Kernel


@pytest.mark.parametrize(
    ("cell", "printed"),
    [
        ("%fwtime -b 0.05 y = a @ a", ""),
        ("%%fwtime -b 0.05\nprint('first')\nz = a.sum()", "first\n"),  # one call prints
        ("r = %fwtime -b 0.05 a + 1\nprint(type(r).__name__)", "Measurement\n"),
        ("with np.errstate(all='ignore'):\n    %fwtime -b 0.05 a / 0", ""),
    ],
)
def test_it_leaves_one_output_that_a_notebook_can_keep(
    kernel: Kernel, cell: str, printed: str
) -> None:
    kernel.run("import numpy as np\na = np.ones((30, 30))")
    shown = kernel.run(cell)
    (data,) = shown.results
    assert set(data) == {"text/plain", "text/html", MIME}
    assert Measurement.from_dict(data[MIME]).samples
    assert shown.text == printed
    output = nbformat.v4.new_output("display_data", data)
    nbformat.validate(
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell, outputs=[output])])
    )


def test_whatever_takes_long_says_so_and_leaves_one_clean_output(kernel: Kernel) -> None:
    first, *_, last = kernel.run("%%trace_cached\nimport time; time.sleep(2.5)").results
    assert re.sub(r"[\d.]+", "#", first["text/plain"]) == "running: # s so far"
    assert MIME in last


def test_an_error_stops_the_cell_at_the_users_line(kernel: Kernel) -> None:
    shown = kernel.run("1\n\n%fwtime a_name / nothing\nnever = 1")
    assert (shown.status, shown.error) == ("error", "NameError")
    assert "----> 3 a_name / nothing" in shown.text
    assert kernel.run("never").error == "NameError"


def test_the_cell_that_a_page_names_is_kept_with_what_it_measured(
    kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    kernel.run("import os; before = os.environ['JUPYTER_DATA_DIR']")
    kernel.run(f"os.environ['JUPYTER_DATA_DIR'] = {str(tmp_path)!r}")
    code = "await __import__('asyncio').sleep(0)"
    content = {"code": f"%fwtime -b 0.05 --name base {code}", "silent": False}
    client: Any = kernel.client
    request = client.session.msg("execute_request", content, metadata={"cellId": "cell-7"})
    client.shell_channel.send(request)
    assert client._recv_reply(request["header"]["msg_id"], 60)["content"]["status"] == "ok"
    (entry,) = store.read_store().entries
    assert (entry.label, entry.where.cell) == ("base", "cell-7")
    kernel.run("os.environ['JUPYTER_DATA_DIR'] = before")
