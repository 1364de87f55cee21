"""What only looks imports no module of a framework that the session has not, draws no number.

In the same processes frameworks are imported in a cell that calls a function of theirs, from which
is learned what it was traced with: each import takes seconds.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

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
#: In which cells import a framework, define a function and call it.
CELLS = {
    "jax": "x = jax.numpy.ones(3)\n@jax.jit",
    "tensorflow": "look()\nx = tensorflow.ones(3)\n@tensorflow.function",
    "torch": "x = torch.ones(3)\n@torch.compile(backend='eager')",
}
#: They end with what is imported then; what is imported later is imported by a look at the cell.
CELL = "import {0}\nscale = 2.0\n{1}\ndef f(x): return x * scale\nf(x); seen.update(modules())"
#: The framework that is imported so, by the first of its order.
IN_A_CELL = {"jax": "torch", "tensorflow": "tensorflow"}
SESSION = """
import json, os, random, sys
from importlib.util import find_spec
import numpy
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
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
REPORTS = ("%%fwcompare --sweep n=1,2 -n 2 -r 3\\nadd: n + n\\ndouble: 2 * xt",
           "%fwtime -n 2 -r 3 xf + xf", "%fwtime --profile -n 2 -r 3 f(xj)",
           "%tfgraph tensorflow.sin(xf)", "%trace_cached --watch on\\nf(xj)",
           "%fxgraph --dynamo torch.sin(xt)")
ALL = '''
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

def look():  # in a cell
    before = modules()
    shell.run_line_magic("fwdevices", "")
    imported["unused, in the cell that imports it: %fwdevices"] = sorted(modules() - before)

def learn(name):
    seen, shown = set(), []
    shell.user_ns.update(look=look, seen=seen, modules=modules)
    shell.run_cell("%trace_cached --watch on").raise_error()
    for cell in (cells[name], "scale = 3.0"):
        with capture_output() as captured:
            shell.run_cell(cell).raise_error()
        shown.append(" ".join(each.data["text/plain"] for each in captured.outputs[-1:]))
        imported[f"{name} imported: {cell}"] = sorted(modules() - seen)
    told[name] = shown
    shell.run_cell("%trace_cached --watch off").raise_error()

config = Config()
config.HistoryManager.enabled = False
shell = InteractiveShell.instance(config=config)
shell.run_cell("%load_ext ipyjaxbench").raise_error()
used, imported, drawn, told = ["random", "numpy"], {}, {}, {}
cells, in_a_cell, *order = json.loads(sys.argv[1])
for name in order:
    if name == in_a_cell:
        if name == "torch":  # which compiles
            sys.path.remove(os.environ["IPYTHONDIR"])  # the one of triton's name
        learn(name)
    else:
        # No cell: what is registered for its end is not called.
        exec(f"import {name}", shell.user_ns)
        for each in LOOKS[:2]:
            run(each, f"{name} unused: {each}")
    exec(f"x = {ARRAYS[name]}; y = x + x\\ndef f(x): return x + x", shell.user_ns)
    used += {name} & GENERATORS.keys()
    for each in LOOKS:
        run(each, f"{name} used: {each}")
looked, refused = dict(imported), ""
if order[0] == "tensorflow":
    import ipyjaxbench, torch
    try:
        ipyjaxbench.graph(torch.nn.Linear(3, 3), torch.ones(3))
    except ipyjaxbench.IpyJaxBenchError as error:
        refused = f"{error}" if "triton" not in sys.modules else "triton was imported"
    sys.path.remove(os.environ["IPYTHONDIR"])
    learn("jax")
    shell.run_cell(ALL).raise_error()
    for report in REPORTS if find_spec("triton") is None else REPORTS[:-1]:
        run(report, report)
print("\\n" + json.dumps([looked, refused, drawn, told]))
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
    cells = {name: CELL.format(name, code) for name, code in CELLS.items()}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield {
            order[0]: pool.submit(
                run,
                [
                    sys.executable,
                    "-W",
                    "ignore",
                    "-c",
                    SESSION,
                    json.dumps([cells, IN_A_CELL[order[0]], *order]),
                ],
            )
            for order in ORDERS
        }


def ended(session: Future[Ran]) -> Any:
    """What each look imported, why one is refused, which looks drew, what is learned of cells."""
    done = session.result()
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("first", IN_A_CELL)
def test_looking_imports_and_draws_nothing_and_what_would_abort_the_process_is_refused(
    first: str, sessions: dict[str, Future[Ran]]
) -> None:
    imported, refused, drawn, _ = ended(sessions[first])
    assert len(imported) == 2 * 13 + (1 if first == "tensorflow" else 0)
    assert {look: names for look, names in imported.items() if names} == {}
    assert [look for look, is_drawn in drawn.items() if is_drawn] == []
    assert refused == (REFUSED if first == "tensorflow" else "")


@pytest.mark.parametrize(
    ("framework", "first"), [("jax", "tensorflow"), ("tensorflow", "tensorflow"), ("torch", "jax")]
)
def test_the_cell_that_imports_a_framework_is_learned_from(
    framework: str, first: str, sessions: dict[str, Future[Ran]]
) -> None:
    *_, told = ended(sessions[first])
    traced, stale = told[framework]
    assert traced.startswith("traced: f (first call)"), traced
    is_guarded = framework == "torch"
    assert stale == ("" if is_guarded else "stale: f (scale was 2.0 when f was traced, is 3.0)")
