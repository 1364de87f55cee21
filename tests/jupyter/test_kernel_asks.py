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
        ("%fwtime --fr", {"%fwtime --fresh"}),
        ("%%fwtime --fr|\nx = 1", {"%%fwtime --fresh"}),
        ("%jaxpr --stage=op", {"%jaxpr --stage=optimized"}),
        ("%fwcompare be", {"%fwcompare before"}),
        ("%fwtime -n 3 some_na", {"%fwtime -n 3 some_name"}),
        ("%fwtime math.sq", {"%fwtime math.sqrt"}),
        ("%%fwtime -q\nmath.sq", {"%%fwtime -q\nmath.sqrt"}),
        ("%config IpyJaxBench.bu", {"%config IpyJaxBench.budget"}),
    ],
)
def test_a_page_gets_what_fits(
    client: BlockingKernelClient, typed: str, expected: set[str]
) -> None:
    assert completed(client, typed) == expected


@pytest.mark.parametrize("command", COMMANDS.values(), ids=lambda command: command.name)
def test_a_page_gets_the_help(client: BlockingKernelClient, command: object) -> None:
    reply = client.inspect(f"%{command.name}", reply=True, timeout=60)["content"]
    assert reply["found"]
    text = reply["data"]["text/plain"]
    for part in (command.purpose, "usage:", "options:", "examples:", "from Python:"):
        assert part in text


def test_what_is_about_comes_in_three_forms_and_names_the_kernel(
    client: BlockingKernelClient,
) -> None:
    shown = []
    client.execute_interactive("%ipyjaxbench", timeout=60, output_hook=shown.append)
    (data,) = [each["content"]["data"] for each in shown if each["msg_type"] == "display_data"]
    assert len(data) == 3
    assert "Jupyter" in data["text/plain"]
