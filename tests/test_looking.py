"""What only looks imports no module of a framework that the session has not imported itself."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

Ran = subprocess.CompletedProcess[str]
#: The first one is there alone at first; each process that imports TensorFlow takes ten seconds.
ORDERS = [("jax", "torch"), ("tensorflow", "torch")]
#: What brings triton in where PyTorch traces; it was imported after TensorFlow.
REFUSED = (
    "tracing with PyTorch imports triton, which aborts the process after TensorFlow was"
    " imported (both bring LLVM): restart, and import triton before tensorflow"
)
#: As triton does, of which PyTorch imports what is there.
TRITON = """
import os, sys
if "tensorflow" in sys.modules:
    os.abort()
"""
SESSION = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

ROOTS = ("jax", "jaxlib", "torch", "tensorflow", "keras", "triton")
ARRAYS = {
    "jax": "jax.device_put(jax.numpy.ones(3), jax.devices()[0])",
    "torch": "torch.ones(3)",
    "tensorflow": "tensorflow.ones(3)",
}
LOOKS = ("1", "%fwdevices", "%fwdevices x", "%ipyjaxbench", "%trace_cached --watch on", "z = x + x",
         "%trace_cached --watch off", "%trace_cached x + x", "%trace_cached --predict f(x)",
         "%fwtime -n 2 -r 3 f(x)", "%%fwcompare -b 0.05\\nadd: x + x\\ndouble: 2 * x")

def modules():
    return {name for name in sys.modules if name.partition(".")[0] in ROOTS}

config = Config()
config.HistoryManager.enabled = False
shell = InteractiveShell.instance(config=config)
shell.run_cell("%load_ext ipyjaxbench").raise_error()
imported = {}
for name in sys.argv[1:]:
    exec(f"import {name}", shell.user_ns)  # no cell: what is registered for its end is not called
    for when in ("unused", "used"):
        if when == "used":
            exec(f"x = {ARRAYS[name]}; y = x + x\\ndef f(x): return x + x", shell.user_ns)
        for look in LOOKS if when == "used" else LOOKS[:2]:
            before = modules()
            done = shell.run_cell(look)
            if "--predict" not in look:  # which says that nothing is compiled
                done.raise_error()
            imported[f"{name} {when}: {look}"] = sorted(modules() - before)
refused = ""
if sys.argv[1] == "tensorflow":
    import ipyjaxbench, torch
    try:
        ipyjaxbench.graph(torch.nn.Linear(3, 3), torch.ones(3))
    except ipyjaxbench.IpyJaxBenchError as error:
        refused = f"{error}" if "triton" not in sys.modules else "triton was imported"
print("\\n" + json.dumps([imported, refused]))
"""


def environment(folder: Path) -> dict[str, str]:
    """With triton; where it is not installed, one of its name that ends the process as it does."""
    if find_spec("triton") is None:
        (folder / "triton").mkdir()
        (folder / "triton" / "__init__.py").write_text(TRITON)
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "IPYTHONDIR": str(folder)}


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[Ran]]]:
    """A process for each order, one for each CPU at a time."""
    env = environment(tmp_path_factory.mktemp("sessions"))
    run = partial(subprocess.run, capture_output=True, text=True, env=env, check=False)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield {
            " ".join(order): pool.submit(run, [sys.executable, "-c", SESSION, *order])
            for order in ORDERS
        }


@pytest.mark.parametrize("order", [*map(" ".join, ORDERS)])
def test_looking_imports_nothing_and_what_would_abort_the_process_is_refused(
    order: str, sessions: dict[str, Future[Ran]]
) -> None:
    done = sessions[order].result()
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    imported, refused = json.loads(done.stdout.splitlines()[-1])
    assert len(imported) == 2 * 13
    assert {look: names for look, names in imported.items() if names} == {}
    assert refused == (REFUSED if order.startswith("tensorflow") else "")
