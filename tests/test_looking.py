"""What only looks imports no module of a framework that the session has not, draws no number."""

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
import json, os, random, sys
from importlib.util import find_spec
import numpy
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
#: With all frameworks; these do import modules, of which some draw when they are imported.
REPORTS = ("%%fwcompare --sweep n=1,2 -b 0.2\\nadd: n + n\\ndouble: 2 * xt",
           "%fwtime -n 2 -r 3 xf + xf", "%fwtime --profile -n 2 -r 3 f(xj)",
           "%tfgraph tensorflow.sin(xf)", "%trace_cached --watch on\\nf(xj)",
           "%fxgraph --dynamo torch.sin(xt)")
ALL = '''
import jax
xt, xf, xj = torch.ones(3), tensorflow.ones(3), jax.numpy.ones(3)
f = jax.jit(lambda x: x + 1)
'''
#: What is drawn from, how it is seeded, and what is drawn.
GENERATORS = {
    "random": ("random.seed(0)", "random.random()"),
    "numpy": ("numpy.random.seed(0)", "numpy.random.rand()"),
    "torch": ("torch.manual_seed(0)", "torch.rand(1).item()"),
    "tensorflow": (
        "tensorflow.random.set_seed(0); tensorflow.random.set_global_generator("
        "tensorflow.random.Generator.from_seed(0))",
        "[float(tensorflow.random.uniform([])),"
        " float(tensorflow.random.get_global_generator().normal([]))]"),
}

def modules():
    return {name for name in sys.modules if name.partition(".")[0] in ROOTS}

def seed():
    for name in used:
        exec(GENERATORS[name][0], {name: sys.modules[name]})

def draw():
    return [eval(GENERATORS[name][1], {name: sys.modules[name]}) for name in used]

def run(cell, key):
    seed()
    expected = draw()
    seed()
    before = modules()
    done = shell.run_cell(cell)
    if "--predict" not in cell:  # which says that nothing is compiled
        done.raise_error()
    imported[key] = sorted(modules() - before)
    drawn[key] = draw() != expected

config = Config()
config.HistoryManager.enabled = False
shell = InteractiveShell.instance(config=config)
shell.run_cell("%load_ext ipyjaxbench").raise_error()
used, imported, drawn = ["random", "numpy"], {}, {}
for name in sys.argv[1:]:
    exec(f"import {name}", shell.user_ns)  # no cell: what is registered for its end is not called
    for look in LOOKS[:2]:
        run(look, f"{name} unused: {look}")
    exec(f"x = {ARRAYS[name]}; y = x + x\\ndef f(x): return x + x", shell.user_ns)
    used += {name} & GENERATORS.keys()
    for look in LOOKS:
        run(look, f"{name} used: {look}")
looked, refused = dict(imported), ""
if sys.argv[1] == "tensorflow":
    import ipyjaxbench, torch
    try:
        ipyjaxbench.graph(torch.nn.Linear(3, 3), torch.ones(3))
    except ipyjaxbench.IpyJaxBenchError as error:
        refused = f"{error}" if "triton" not in sys.modules else "triton was imported"
    sys.path.remove(os.environ["IPYTHONDIR"])  # the one of triton's name
    shell.run_cell(ALL).raise_error()
    for report in REPORTS if find_spec("triton") is None else REPORTS[:-1]:
        run(report, report)
print("\\n" + json.dumps([looked, refused, drawn]))
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
def test_looking_imports_and_draws_nothing_and_what_would_abort_the_process_is_refused(
    order: str, sessions: dict[str, Future[Ran]]
) -> None:
    done = sessions[order].result()
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    imported, refused, drawn = json.loads(done.stdout.splitlines()[-1])
    assert len(imported) == 2 * 13
    assert {look: names for look, names in imported.items() if names} == {}
    assert [look for look, is_drawn in drawn.items() if is_drawn] == []
    assert refused == (REFUSED if order.startswith("tensorflow") else "")
