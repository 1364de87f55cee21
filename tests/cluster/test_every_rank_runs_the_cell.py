"""`%fwtime` without a client: every rank of a job runs the same cell, as under `%%px`."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from ipyjaxbench.device import DeviceOptions
from ipyjaxbench.jupyter import other_ranks
from ipyjaxbench.jupyter.session import Session
from tests.cluster.typed import Shells, executed

_SECONDS = 60
#: Rank 0 asks those that are missing where they are for less time.
_SOON = """
import ipyjaxbench.cluster.rendezvous as waits
own, waits._ANSWER_NS = waits._ANSWER_NS, 300_000_000
"""


def run_in_all(client: Any, cell: str) -> list[tuple[str, str, str]]:
    """Run a cell in all ranks; return what each shows, prints, and the line that it raises."""
    client[:].execute("%load_ext ipyjaxbench", block=True)
    pending = [client[n].execute(cell, block=False) for n in client.ids]
    found = []
    for each in pending:
        error = each.exception(_SECONDS)
        assert each.wait_for_output(_SECONDS)  # which can come after the result
        outputs = [output["data"] for output in each.metadata["outputs"] if "data" in output]
        shown = "\n".join(data["text/plain"] for data in outputs)
        found.append((shown, each.metadata["stdout"], getattr(error, "evalue", "")))
    return found


@pytest.mark.parametrize(
    ("kind", "cell"),
    [
        ("jax", "%fwtime -n 1 -r 15 __import__('time').sleep(0.1)"),  # longer than its progress
        ("jax", "%fwtime -b 0.05 [step(x)] if rank else step(x)"),  # which is the same code
        ("torch", "%fwtime -b 0.05 step(x)"),
    ],
)
def test_rank_0_shows_all_ranks_and_the_others_one_line(
    kind: str, cell: str, shell_of: Shells
) -> None:
    (table, _, failed), other = run_in_all(shell_of(kind).names["rc"], cell)
    assert not failed
    assert all(f"rank {number} " in table for number in (0, 1))
    assert "measuring" not in table
    assert other == ("", "rank 1 of 2: timed; rank 0 shows what all ranks measured.\n", "")


def test_what_a_rank_does_otherwise_or_not_is_told_and_the_next_cell_works(
    shell_of: Shells,
) -> None:
    client = shell_of("torch").names["rc"]
    magic = "get_ipython().run_line_magic('fwtime', {})"
    for cell, told in (
        (magic.format("f'step(x); {rank}'"),
         "rank 1 has other code than rank 0: 'step(x); 1', not 'step(x); 0'"),
        ("%fwtime --fresh step(x)",
         "--fresh works in one process alone, with --timeout 0"),
    ):  # fmt: skip
        for _, _, line in run_in_all(client, cell):
            assert line.startswith(told)
    with executed(client[0], _SOON, "waits._ANSWER_NS = own"):
        typed = magic.format("'--timeout 0.5 step(x)'")
        here, absent = run_in_all(client, f"if not rank: {typed}")
    assert absent == ("", "", "")
    assert here[2].startswith("rank 1 ")
    assert "did not arrive within 0.5 s. All ranks must run the same cell" in here[2]
    assert not any(line for _, _, line in run_in_all(client, "%fwtime -n 2 -r 2 step(x)"))


# Other magics say that the others take no part.


def output_of_rank_1(client: Any, cell: str) -> str:
    shown, printed, failed = run_in_all(client, cell)[1]
    assert not failed
    return printed + shown


@pytest.mark.parametrize(
    ("magic", "arguments", "words"),
    [
        ("run_line_magic", "'jaxpr', 'x + 1'", "rank 1 of 2: it traces in this rank."),
        ("run_cell_magic", "'fwcompare', '-q -n 1 -r 2', 'a: rank + 1\\nb: rank * 2'",
         "rank 1 of 2: each rank decides by itself how often it calls"),
        ("run_cell_magic", "'trace_cached', '', 'rank + 1'",
         "rank 1 of 2: the cell runs in this rank"),
        ("run_cell_magic", "'fwtime', '--loop', 'for i in range(5): step(x)'",
         "rank 1 of 2: the loop of this rank is timed"),
        ("run_cell_magic", "'fwdevices', '', 'rank + 1'",
         "rank 1 of 2: the copies of this rank are shown"),
    ],
)  # fmt: skip
def test_a_magic_of_one_rank_says_so_once(
    magic: str, arguments: str, words: str, shell_of: Shells
) -> None:
    client = shell_of("jax").names["rc"]
    cell = f"get_ipython().{magic}({arguments})"
    assert words in output_of_rank_1(client, cell)
    assert words not in output_of_rank_1(client, cell)  # it is known


@pytest.mark.usefixtures("shell")  # without one IPython prints all that it could show
def test_a_rank_that_measures_peaks_says_what_disturbs_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    job = SimpleNamespace(rank=1, size=2)
    monkeypatch.setattr(other_ranks, "find_job", lambda: (None, job))
    session = SimpleNamespace(noted_ranks=set())
    for options in (DeviceOptions(), DeviceOptions(peak=True), DeviceOptions(peak=True)):
        other_ranks.note_other_ranks(cast("Session", session), "fwdevices", options, is_cell=False)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("rank 1 of 2: ranks of one host that measure at the same time disturb")


_HIDE = """
from jax._src import distributed
client, distributed.global_state.client = distributed.global_state.client, object()
"""


def test_a_job_that_cannot_be_used_is_timed_alone_and_says_so_once(shell_of: Shells) -> None:
    """Where JAX's service has other methods than those that we know."""
    client = shell_of("jax").names["rc"]
    cell = "%fwtime -n 1 -r 2 rank + 1"
    words = (
        "one rank of many is timed alone, since this version of JAX has no"
        " blocking_key_value_get_bytes, key_value_set_bytes"
    )
    client[:].execute(_HIDE, block=True)
    try:
        output = output_of_rank_1(client, cell)
        assert words in output
        assert "samples" in output  # the report: it was timed
        assert words not in output_of_rank_1(client, cell)
    finally:
        client[:].execute("distributed.global_state.client = client", block=True)
