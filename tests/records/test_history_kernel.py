"""What a real kernel keeps of a measurement, as pages that tell where a cell is run it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

from ipyjaxbench.records import store
from ipyjaxbench.records.entry import HistoryEntry


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BlockingKernelClient]:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    environment = {**os.environ, "JPY_SESSION_NAME": "work/a.ipynb"}
    manager, client = start_new_kernel(kernel_name="python3", env=environment)
    client.execute_interactive("%load_ext ipyjaxbench", timeout=60)
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def kept_of(kernel: BlockingKernelClient, cell: str) -> HistoryEntry:
    """What is kept of a cell that JupyterLab runs."""
    content = {"code": cell, "silent": False, "store_history": True, "allow_stdin": False}
    request = kernel.session.msg("execute_request", content, metadata={"cellId": "cell-7"})
    kernel.shell_channel.send(request)
    while True:
        reply = kernel.get_shell_msg(timeout=60)
        if reply["parent_header"].get("msg_id") == request["header"]["msg_id"]:
            break
    assert reply["content"]["status"] == "ok"
    return store.read_store().entries[0]


def test_the_notebook_and_the_cell_are_kept(kernel: BlockingKernelClient) -> None:
    entry = kept_of(kernel, "%fwtime -b 0.05 --name base sum(range(100))")
    assert (entry.label, entry.where.notebook, entry.where.cell) == (
        "base",
        "work/a.ipynb",
        "cell-7",
    )
    awaited = "import asyncio\n%fwtime -b 0.05 --name awaited await asyncio.sleep(0)"
    assert kept_of(kernel, awaited).label == "awaited"
