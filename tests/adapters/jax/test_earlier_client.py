"""What was there before: arrays of a client that JAX lists no more, traces that nobody saw."""

import subprocess
import sys

_PROGRAM = """
import sys
import jax, jax.numpy as jnp
traced = []
earlier = jax.jit(lambda z: (traced.append(1), z * 3)[1])
earlier(jnp.ones(3))
older = jax.jit(lambda z: z * 4)
older(jnp.ones(3))
from IPython.core.interactiveshell import InteractiveShell
from tests.shell import Shell

shell = Shell(InteractiveShell.instance())
shell.run("%load_ext ipyjaxbench")
shell.names |= {"f": jax.jit(lambda x: jnp.tanh(x @ x)), "x": jnp.ones((64, 64))}
shell.run("%trace_cached --watch on")
if jax.__version_info__ >= (0, 10):  # before, JAX does not show which traces it keeps
    shell.names |= {"earlier": earlier, "older": older, "jnp": jnp}
    shell.run("%%trace_cached\\nolder(jnp.ones(4))")
    assert "z: f32[3] → f32[4] (shape)" in shell.shown[-1].data["text/plain"]
    shell.run("earlier(jnp.ones(4))")
    assert "reason unknown: earlier traces were not observed" in shell.shown[-1].data["text/plain"]
    shell.run("earlier(jnp.ones(5))")
    assert "z: f32[4] → f32[5] (shape)" in shell.shown[-1].data["text/plain"]
    shell.run("f(jnp.ones((4, 4)))")
    assert "first call" in shell.shown[-1].data["text/plain"]
shell.names |= {"earlier": earlier, "z": jnp.ones(3)}
for cell in ("%jaxpr earlier(z)", "%fwtime -q --quick earlier(z)", "%%fwdevices\\nearlier(z)",
             "%fwdevices z", "%%trace_cached\\nearlier(z)", "%trace_cached --predict earlier(z)"):
    shell.run(cell)
before = len(traced)
earlier(jnp.ones(3))
assert len(traced) == before, "looking had JAX trace everything anew"
assert "jax.extend" not in sys.modules, "from JAX 0.12 on it loads what has"

from jax.extend.backend import clear_backends
clear_backends()
shell.names["y"] = jnp.ones((64, 64))

def text(cell):
    shell.run(cell)
    return " ".join(shell.shown[-1].data["text/plain"].split())

assert "x jax f32[64,64] 16.0 KiB cpu:0 y jax f32[64,64]" in text("%fwdevices x y")
for name in "xy":
    shell.run(f"%fwtime -q --quick -v found f({name})")
    found = shell.names["found"]
    assert found.verdict not in ("INVALID", "RECOMPILES"), found
    assert found.waited and 0 < found.median < 0.1, found
assert "CACHED" in text("%%trace_cached\\nf(x); f(y)")
assert "no copies" in text("%%fwdevices\\nz = f(x) + y")
"""


def test_arrays_of_both_clients_are_placed_timed_and_traced() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
