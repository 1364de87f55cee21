"""`%fwtime` without a client: every rank of a job runs the same cell, as under `%%px`."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.shell import Shell

_SECONDS = 60
Shells = Callable[[str], Shell]


def run_in_all(client: Any, cell: str) -> list[tuple[str, str, str]]:
    """Run a cell in all ranks; return what each shows, prints, and the line that it raises."""
    client[:].execute("%load_ext ipyjaxbench", block=True)
    pending = [client[n].execute(cell, block=False) for n in client.ids]
    found = []
    for each in pending:
        error = each.exception(_SECONDS)
        assert each.wait_for_output(_SECONDS)  # which can come after the result
        shown = [output["data"]["text/plain"] for output in each.metadata["outputs"]]
        line = getattr(error, "evalue", "")
        found.append(("\n".join(shown), each.metadata["stdout"], line))
    return found


@pytest.mark.parametrize("kind", ["jax", "torch"])
def test_rank_0_shows_all_ranks_and_the_others_one_line(kind: str, shell_of: Shells) -> None:
    client = shell_of(kind).names["rc"]
    (table, _, failed), other = run_in_all(client, "%fwtime --quick step(x)")
    assert not failed
    assert all(f"rank {number} " in table for number in (0, 1))
    assert other == ("", "rank 1 of 2: timed; rank 0 shows what all ranks measured.\n", "")


def test_a_result_that_takes_longer_than_a_line_of_progress_is_shown(shell_of: Shells) -> None:
    client = shell_of("jax").names["rc"]
    (table, _, failed), _ = run_in_all(client, "%fwtime -n 1 -r 15 __import__('time').sleep(0.1)")
    assert not failed
    assert "measuring" not in table
    assert "rank 1 " in table


@pytest.mark.parametrize(
    ("kind", "cell", "told"),
    [
        ("jax", "%fwtime --quick [step(x)] if rank else step(x)", ""),
        ("jax", "exec('y' + str(rank) + ' = x')\n%fwtime --quick step(y1)",
         "name 'y1' is not defined"),
        ("torch", "get_ipython().run_line_magic('fwtime', f'--quick step(x); {rank}')",
         r"rank 1 has other code than rank 0: 'step(x); 1', not 'step(x); 0'"),
        ("torch", "get_ipython().run_line_magic('fwtime', f'-n {5 + rank} -r 3 step(x)')",
         "rank 1 has other options than rank 0"),
        ("jax", "get_ipython().run_cell_magic('fwtime', f'--quick y = {rank}', 'step(x)')",
         "rank 1 has other setup than rank 0: 'y = 1', not 'y = 0'"),
        ("torch", "%fwtime --fresh step(x)",
         "--fresh works in one process alone, with --timeout 0"),
    ],
)  # fmt: skip
def test_what_is_not_the_same_in_all_ranks_is_refused_in_all_of_them(
    kind: str, cell: str, told: str, shell_of: Shells
) -> None:
    client = shell_of(kind).names["rc"]
    for _, _, line in run_in_all(client, cell):
        assert line.startswith(told)
        assert bool(line) == bool(told)
    assert not any(line for _, _, line in run_in_all(client, "%fwtime -n 2 -r 2 step(x)"))


@pytest.mark.parametrize(("kind", "absent"), [("jax", 0), ("torch", 1)])
def test_a_rank_that_does_not_run_the_cell_is_named(
    kind: str, absent: int, shell_of: Shells
) -> None:
    client = shell_of(kind).names["rc"]
    cell = f"if rank != {absent}: get_ipython().run_line_magic('fwtime', '--timeout 1 step(x)')"
    outcomes = run_in_all(client, cell)
    assert outcomes[absent] == ("", "", "")
    line = outcomes[1 - absent][2]
    assert line.startswith(f"rank {absent} ")
    assert "did not arrive within 1 s. All ranks must run the same cell" in line
    assert not any(line for _, _, line in run_in_all(client, "%fwtime -n 2 -r 2 step(x)"))
