"""How copies are told, from Python's own view: frameworks have files of their own."""

import re
from dataclasses import replace

import pytest
from IPython.core.error import UsageError

from ipyjaxbench import Transfers
from ipyjaxbench.device.transfers import Transfer
from ipyjaxbench.errors import RecordError
from ipyjaxbench.frameworks.placement import ArrayInfo
from ipyjaxbench.reports import Calls, Facts, Flow, Flows, Headline, Picture, Segment, Stack
from tests.shell import Shell

MIB = 2**20
COPY = Transfer("jax", 2, "np.array(x)", "", "gpu:0", "host", "float32", (512, 512), MIB, True,
                seconds=6.3e-3, waited=2e-3)  # fmt: skip
GIVEN = Transfer("jax", 3, "f(n)", "step", "host", "gpu:0", "float32", (8,), 96, False, times=3)
SHARED = Transfer("jax", 4, "np.asarray(y)", "", "cpu:0", "host", "float32", (8,), 32, True,
                  "shares memory", 1e-6)  # fmt: skip
FOUND = Transfers(
    "np.array(x)\nf(n)\nnp.asarray(y)",
    8.45e-3,
    {"jax": "0.10.2"},
    (COPY, GIVEN, SHARED),
    created=(ArrayInfo("y", "jax", "float32", (8,), 32, ("gpu:0",)),),
    memory={"jax gpu:0": (0, 32)},
    unseen=("copies elsewhere",),
)


@pytest.mark.parametrize(("source", "target", "direction"), [
    ("cpu", "cuda:0", "to devices"),
    ("cuda:0", "cpu pinned", "to the host"),
    ("gpu:0", "host", "to the host"),
    ("cpu:0", "host", "to the host"),
    ("cuda:0", "cuda:1", "between devices"),
    ("cpu:0", "cpu:1", "between devices"),
])  # fmt: skip
def test_the_cpu_is_the_host_beside_a_gpu(source: str, target: str, direction: str) -> None:
    assert replace(COPY, source=source, target=target).direction == direction


def headline(*transfers: Transfer) -> tuple[str, str, str]:
    head = Transfers("x", 8e-3, {}, transfers).report().blocks[0]
    assert isinstance(head, Headline)
    return head.figure, head.detail, head.verdict


def test_the_headline_says_how_much_was_copied_how_long_and_what_of_it_implicitly() -> None:
    up = replace(COPY, source="host", target="gpu:0", seconds=1e-3)
    both = "2.00 MiB copied in 7.30 ms"
    assert headline(up, COPY) == ("8.00 ms", both, "")
    assert headline(replace(up, asked=False), COPY, SHARED) == ("8.00 ms", both, "IMPLICIT")
    assert headline(GIVEN, SHARED) == ("8.00 ms", "96 B copied", "IMPLICIT")  # time not known
    assert headline(SHARED) == ("8.00 ms", "nothing copied: memory is shared", "")
    assert headline(COPY, replace(SHARED, asked=False))[1] == "1.00 MiB copied in 6.30 ms"
    assert headline() == ("8.00 ms", "no copies between host and devices", "")


def rows(found: Transfers, label: str) -> list[str]:
    facts = [block for block in found.report().blocks if isinstance(block, Facts)]
    return [text for block in facts for name, text in block.rows if name == label]


def test_what_is_shared_is_no_copy_and_memory_that_stayed_is_not_shown() -> None:
    found = Transfers("x", 1.0, {}, (COPY, SHARED, GIVEN))
    assert (found.copied, COPY.copied, SHARED.copied) == (MIB + 96, MIB, 0)
    assert found.copying == {"to the host": 6.3e-3}
    assert repr(found) == "<Transfers 1048672 bytes in 3 places>"
    assert Transfers.from_dict(FOUND.to_dict()) == FOUND
    with pytest.raises(RecordError, match=re.escape("Expected `float` >= 0.0 - at `$.seconds`")):
        Transfers.from_dict(Transfers("x", -1.0).to_dict())
    found = Transfers("x", 1.0, memory={"gpu:0": (64, 64), "gpu:1": (64, 0)}, error="KeyError: 1")
    assert rows(found, "gpu:0") == []
    assert rows(found, "gpu:1") == ["64 B in use before, 0 B after"]
    assert rows(found, "error") == ["KeyError: 1"]


def pictures(*transfers: Transfer, seconds: float = 9e-3) -> list[Picture]:
    return Transfers("x", seconds, {}, transfers).report().pictures()


def test_the_time_is_one_bar_but_for_copies_beside_each_other() -> None:
    stack, _ = pictures(COPY, replace(GIVEN, seconds=5e-4), SHARED)
    parts = (Segment("other work", pytest.approx(2e-4)), Segment("wait", 2e-3),
             Segment("copy", 6.3e-3), Segment("implicit copy", 5e-4))  # fmt: skip
    assert stack == Stack((("time", parts, "9.00 ms"),))
    (flows,) = pictures(COPY, COPY)
    assert isinstance(flows, Flows)
    assert pictures(SHARED, seconds=1e-9) == []


def test_arrows_are_sums_of_a_way_and_those_of_the_host_come_first() -> None:
    across = replace(COPY, source="gpu:0", target="gpu:1")
    *_, flows = pictures(across, COPY, COPY, GIVEN, SHARED, replace(COPY, asked=False), seconds=1.0)
    assert flows == Flows((
        Flow("gpu:0", "host", 2 * MIB, "2.00 MiB"),
        Flow("gpu:0", "host", MIB, "1.00 MiB", implicit=True),
        Flow("host", "gpu:0", 96, "96 B", implicit=True),
        Flow("gpu:0", "gpu:1", MIB, "1.00 MiB"),
    ))  # fmt: skip
    many = [replace(COPY, source=f"gpu:{n}", nbytes=n) for n in range(20)]
    (_, flows) = pictures(*many, seconds=1.0)
    assert isinstance(flows, Flows)
    assert sorted(flow.nbytes for flow in flows.rows) == [*range(12, 20)]  # the largest


def test_a_copy_has_its_place_and_where_there_are_several_its_framework() -> None:
    def calls(*transfers: Transfer) -> tuple[tuple[str, ...], ...]:
        blocks = Transfers("x", 1.0, {}, transfers).report().blocks
        (calls,) = (block for block in blocks if isinstance(block, Calls))
        return calls.rows

    assert calls(replace(COPY, line=0, asked=False)) == (
        ("?", "gpu:0 → host", "1.00 MiB", "6.3 ms", "implicit", "np.array(x), f32[512,512]"),
    )
    assert [row[-1] for row in calls(COPY, replace(GIVEN, framework="torch"))] == [
        "np.array(x), jax f32[512,512]", "f(n) in step, torch f32[8], 3 times",
    ]  # fmt: skip
    many = [replace(GIVEN, line=n, nbytes=n, times=1) for n in range(1, 101)]
    assert [row[0] for row in calls(*many)] == [*map(str, range(71, 101)), "..."]
    assert calls(*many)[-1][2] == "2.43 KiB"  # 1 to 70 bytes
    assert "70 more" in str(Transfers("x", 1.0, {}, tuple(many)))


def test_arrays_are_named_framework_by_framework_as_far_as_they_are_few() -> None:
    def arrays(count: int) -> tuple[ArrayInfo, ...]:
        return tuple(ArrayInfo(f"x{n}", "jax", "int8", (n,), n, ()) for n in range(count))

    nameless = ArrayInfo("", "torch", "int8", (3,), 3, ())
    found = Transfers("x", 1.0, created=(*arrays(4), *[nameless] * 6), freed=arrays(5))
    assert rows(found, "created") == [
        "4 jax arrays, 6 B: x0 i8[0], x1 i8[1], x2 i8[2], x3 i8[3]",
        "6 torch arrays, 18 B: 6 unnamed i8[3]",
    ]
    (freed,) = rows(found, "freed")
    assert freed.endswith("x3 i8[3], 1 more")
    one = Transfers("x", 1.0, created=(*arrays(1), nameless))
    assert rows(one, "created")[1] == "1 torch array, 3 B: unnamed i8[3]"


def test_a_cell_is_run_and_told_and_its_names_stay(shell: Shell) -> None:
    shell.run("%%fwdevices -v found\nimport numpy as np\na = np.ones(3)\nb = a + 1")
    assert shell.names["b"].tolist() == [2, 2, 2]
    found = shell.names["found"]
    assert [(each.name, each.nbytes) for each in found.created] == [("a", 24), ("b", 24)]
    assert len(shell.shown) == 1
    with pytest.raises(UsageError, match="'x' is not an option"):
        shell.run("%%fwdevices x\n1")
