"""A plugin that cannot be loaded costs a line where its devices are asked for, and no more."""

import json
import os
import subprocess
import sys

_PROGRAM = """
import json
from IPython.core.interactiveshell import InteractiveShell
from tests.shell import Shell

shell = Shell(InteractiveShell.instance())
shell.run("%load_ext ipyjaxbench")
shell.run("import jax, numpy as np")

def run(cell):
    try:
        shell.run(cell)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return " ".join(shell.shown[-1].data["text/plain"].split())

cells = ["", " --start", " --peak --start"]
found = {cell: run(f"%fwdevices{cell}") for cell in cells}
print("found", json.dumps(found | {"timed": run("%fwtime --quick np.ones(3)")}))
"""


def test_it_is_said_in_one_line_and_all_else_works() -> None:
    broken = {"PJRT_NAMES_AND_LIBRARY_PATHS": "broken:/nowhere.so", "JAX_PLATFORMS": "broken,cpu"}
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], env={**os.environ, **broken}, capture_output=True,
        text=True, timeout=120, check=False,
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if line.startswith("found ")]
    assert lines, done.stderr[-2000:]
    found = json.loads(lines[0].removeprefix("found "))
    assert "jax imported but not initialized" in found[""]
    for cell in (" --start", " --peak --start"):
        assert found[cell].startswith("UsageError: --start: jax cannot start: JaxRuntimeError: ")
        assert "\n" not in found[cell]
    assert found["timed"].startswith("np.ones(3) ")
