"""What is too large to copy is told by its name where timed code changes it, and is not else."""

import jax
import pytest
import tensorflow  # noqa: F401  changes the environment when it is loaded

from ipyjaxbench.frameworks.state import copy_budget
from tests.shell import Shell

SETUP = """import io, mmap
from array import array
import jax, jax.numpy as jnp, numpy as np, tensorflow as tf, torch
x, y = torch.zeros(600), torch.zeros(600); view = y.numpy()
n, o = np.zeros(600), np.array([[], None], object)
s = np.array(['a', 'b'], np.dtypes.StringDType()) if hasattr(np.dtypes, 'StringDType') else n
b, a, m, t = bytearray(9), array('h', [1, 2]), mmap.mmap(-1, 9), io.StringIO('abc')
v, k = tf.Variable([1.0]), tf.constant([1])
table = tf.lookup.experimental.MutableHashTable(tf.int32, tf.int32, 0); table.insert(k, k)
c = [0]
def count(): c[0] += 1; return c[0]
def write(): t.seek(0); t.write(str(count() % 10)); t.seek(3)
"""
CELLS = {
    "x.add_(1)": "x", "view += 1": "view", "y.numpy()[7] += count()": "y", "n[7] += 1": "n",
    "o[0], o[1] = o[1], o[0]": "o", "s[0] = s[0] + 'a'": "s", "b[0] += 1": "b", "a[0] += 1": "a",
    "m[0] = m[0] + 1": "m", "write()": "t", "v.assign_add([1.0])": "v",
    "table.insert(k, [count()])": "table", "x + 1": "", "n.sum()": "",
}  # fmt: skip
if hasattr(jax, "new_ref"):
    SETUP += "ref = jax.new_ref(jnp.zeros(3))\n"
    CELLS["ref[0] += 1"] = "ref"


@pytest.fixture
def _no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is none for any copy."""
    monkeypatch.setattr(copy_budget, "_UNCHECKED_BYTES", -1)
    monkeypatch.setattr(copy_budget, "_FREE_SHARE", 0.0)


@pytest.mark.usefixtures("_no_memory")
@pytest.mark.parametrize("code", CELLS)
def test_a_change_is_told_and_nothing_said_to_be_restored(shell: Shell, code: str) -> None:
    shell.run(SETUP)
    found = shell.run(f"%fwtime -q -o -n3 -r2 {code}")
    told = {note.code: note.text for note in found.notes}
    assert f"{CELLS[code]!r} advanced by 6 calls" in told.get(
        "state-advanced", "'' advanced by 6 calls"
    )
    restored = told.get("put-back", ": ").rpartition(": ")[2].rstrip(".").split(", ")
    assert CELLS[code] not in restored or not CELLS[code]


@pytest.mark.usefixtures("_no_memory")
@pytest.mark.parametrize(
    ("code", "name"), [("n += 1", "n (4.69 KiB)"), ("x += 1", "x (2.34 KiB)"), ("n + 1", "")]
)
def test_that_calls_cannot_start_from_the_state_found_is_told(
    shell: Shell, code: str, name: str
) -> None:
    shell.run(SETUP)
    found = shell.run(f"%fwtime -q -o -b 0.05 {code}")
    told = [note.text for note in found.notes if note.code == "not-kept-before"]
    expected = f"Too large to reset before each call: {name}. Each call starts from what the one"
    assert [text.startswith(expected) for text in told] == [True] * bool(name)


@pytest.mark.usefixtures("_no_memory")
@pytest.mark.parametrize("code", ["n += 1", "x += 1"])
def test_what_is_too_large_even_to_read_is_told(
    shell: Shell, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copy_budget, "_MOST_READ", 1000)
    shell.run(SETUP)
    found = shell.run(f"%fwtime -q -o -n3 -r2 {code}")
    told = {note.code: note.text for note in found.notes}
    assert told["not-all-kept"].startswith(f"Too large to copy completely: {code[0]} (")
    assert f"{code[0]!r} advanced by 6 calls" in told["state-advanced"]
