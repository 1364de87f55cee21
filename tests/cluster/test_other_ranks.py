"""Magics in a process that is one of many say that the others take no part."""

import pytest

from tests.cluster.engines import need

_PREPARE = """
import jax.numpy as jnp
own = jnp.ones(4)
get_ipython().run_line_magic("load_ext", "ipyjaxbench")
"""


def _output(client, code):
    """Return the text that rank 1 shows while all ranks run the code."""
    running = client[:].execute(code, block=False, silent=False)
    running.get(60)
    assert running.wait_for_output(60)  # which can come after the result
    shown = running.metadata[1]["outputs"]
    texts = [each["data"]["text/plain"] for each in shown if "data" in each]
    return running.metadata[1]["stdout"] + "".join(texts)


@pytest.fixture(scope="module")
def job(started):
    """Two ranks of one job, with the magics loaded."""
    need("jax")
    client = started("jax")
    client[:].execute(_PREPARE, block=True)
    return client


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (
            "get_ipython().run_line_magic('jaxpr', 'own + 1')",
            "rank 1 of 2: it traces in this rank.",
        ),
        (
            "get_ipython().run_cell_magic('fwcompare', '-q --quick', 'a: own + 1\\nb: own * 2')",
            "rank 1 of 2: each rank decides by itself how often it calls",
        ),
        (
            "get_ipython().run_cell_magic('trace_cached', '', 'own + 1')",
            "rank 1 of 2: the cell runs in this rank",
        ),
    ],
)
def test_it_says_so_once(job, code, words):
    """The second time it is known."""
    assert words in _output(job, code)
    assert words not in _output(job, code)


_HIDE = """
from jax._src import distributed
client, distributed.global_state.client = distributed.global_state.client, object()
"""


def test_a_job_that_cannot_be_used_is_timed_alone_and_says_so(job):
    """Where JAX's service has other methods than those that we know."""
    job[:].execute(_HIDE, block=True)
    try:
        code = "get_ipython().run_line_magic('fwtime', '--quick own + 1')"
        words = (
            "one rank of many is timed alone, since this version of JAX has no"
            " blocking_key_value_get_bytes, key_value_set_bytes"
        )
        output = _output(job, code)
        assert words in output
        assert "samples" in output  # the report: it was timed
        assert words not in _output(job, code)
    finally:
        job[:].execute("distributed.global_state.client = client", block=True)
