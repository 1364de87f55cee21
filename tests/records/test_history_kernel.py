"""What a real kernel keeps of a measurement, as pages that tell where a cell is run it."""

from pathlib import Path

import pytest
from jupyter_client.manager import start_new_kernel

from ipyjaxbench.records import store


def test_the_notebook_and_the_cell_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("JPY_SESSION_NAME", "work/a.ipynb")
    manager, kernel = start_new_kernel(kernel_name="python3")
    line = "%load_ext ipyjaxbench\n%fwtime -b 0.05 --name {} {}"
    try:
        for name, code in {
            "base": "sum(range(9))",
            "awaited": "await __import__('asyncio').sleep(0)",
        }.items():
            content = {"code": line.format(name, code), "silent": False, "store_history": True}
            request = kernel.session.msg("execute_request", content, metadata={"cellId": "cell-7"})
            kernel.shell_channel.send(request)
            assert kernel._recv_reply(request["header"]["msg_id"], 60)["content"]["status"] == "ok"
            entry = store.read_store().entries[0]
            assert (entry.label, entry.where.notebook) == (name, "work/a.ipynb")
            assert entry.where.cell == "cell-7"
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel(now=True)
