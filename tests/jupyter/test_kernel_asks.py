"""What a page asks a real kernel while one types: completions, and help."""

import pytest
from jupyter_client.blocking.client import BlockingKernelClient

from ipyjaxbench.jupyter.commands import COMMANDS
from tests.jupyter.kernel import Kernel


@pytest.fixture(scope="module")
def client(kernel: Kernel) -> BlockingKernelClient:
    """What asks a kernel with some names."""
    kernel.run("import math\nsome_name = 1\n%fwtime -q -n9 -r9 --name before 1")
    return kernel.client


def completed(client: BlockingKernelClient, cell: str) -> set[str]:
    """The cell up to where it changes, and each of the offers."""
    cursor = cell.index("|") if "|" in cell else len(cell)
    text = cell.replace("|", "")
    reply = client.complete(text, cursor, reply=True, timeout=60)["content"]
    return {text[: reply["cursor_start"]] + each for each in reply["matches"]}


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("%%fwtime --fr|\nx = 1", {"%%fwtime --fresh"}),
        ("%jaxpr --stage=op", {"%jaxpr --stage=optimized"}),
        ("%fwcompare be", {"%fwcompare before"}),
        ("%fwtime -n 3 some_na", {"%fwtime -n 3 some_name"}),
        ("%%fwtime -q\nmath.sq", {"%%fwtime -q\nmath.sqrt"}),
    ],
)
def test_a_page_gets_what_fits(
    client: BlockingKernelClient, typed: str, expected: set[str]
) -> None:
    assert completed(client, typed) == expected


def test_a_page_gets_the_help(client: BlockingKernelClient) -> None:
    reply = client.inspect("%fwtime", reply=True, timeout=60)["content"]
    assert reply["found"]
    assert COMMANDS["fwtime"].help() in reply["data"]["text/plain"]
