"""How a program is reported, without any framework."""

import pytest

from ipyjaxbench import Graph
from ipyjaxbench.graphs import Break, Collective, Count, CountDifference, Uncounted, Value, notes
from ipyjaxbench.graphs.compiled import Compiled, Estimate
from ipyjaxbench.reports import Code, Details, Facts, Footer, Headline, Listing, Notes, Table
from tests.graphs.test_components import a_graph

MIB = 2**20


def rows(graph: Graph) -> dict[str, str]:
    """The labelled lines; of several with one label the last."""
    (facts,) = (block for block in graph.report().blocks if isinstance(block, Facts))
    return dict(facts.rows)


def tables(graph: Graph) -> list[Table]:
    return [block for block in graph.report().blocks if isinstance(block, Table)]


def value(name: str, n: int = 1, **facts: object) -> Value:
    return Value(name, "float32", (n,), 4 * n, **facts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("uncounted", "words"),
    [
        (Uncounted("operation", "sort"), "excludes sort"),
        (Uncounted("shape", "MatMul"), "excludes MatMul, whose shape is unknown"),
        (Uncounted("function", "MapDataset"),
         "excludes what MapDataset calls, which this version of TensorFlow does not show"),
        (Uncounted("products", "aten.a, aten.b"), "excludes aten.a, aten.b"),
        (Uncounted("others"), "matrix products and convolutions only, as PyTorch counts"),
        (Uncounted("turns"), "one iteration of a while loop (how many run is unknown)"),
        (Uncounted("most turns", turns=1200),
         "the maximum of 1,200 iterations of a while loop"),
        (Uncounted("branch", "an if"), "only the costliest branch of an if"),
        ("as an old record says it", "as an old record says it"),
    ],
)  # fmt: skip
def test_what_is_not_counted_reads_as_a_sentence(uncounted: Uncounted | str, words: str) -> None:
    graph = a_graph(uncounted=(uncounted, Uncounted("operation", "lu")))
    assert rows(graph)["FLOP count"] == f"{words}; excludes lu"
    assert Graph.from_dict(graph.to_dict()) == graph


@pytest.mark.parametrize(
    ("why", "words"),
    [
        (CountDifference(None, 4), "Per device, of 4."),
        (CountDifference(4e6, 4), "Per device, of 4; the whole program has 4.00 MFLOP."),
        (CountDifference(6e6, left=-4e6, reasons=(("unused", 3e6), ("constant", 1e6))),
         ("The program has 6.00 MFLOP: 3.00 MFLOP in unused results, which XLA removes; 1.00 MFLOP"
          " in constants, which XLA folds.")),
        (CountDifference(6e6, left=-4e6, reasons=(("turns", 4e6),)),
         ("The program has 6.00 MFLOP: 4.00 MFLOP in later iterations (XLA counts a loop's"
          " body once).")),
        (CountDifference(6e6, left=-4e6, reasons=(("complex", 4e6),)),
         ("The program has 6.00 MFLOP: 4.00 MFLOP in complex arithmetic (XLA counts a complex"
          " operation as one).")),
        (CountDifference(6e6, left=1e3, uncounted=("lu", "sort"), rewritten=("cumsum",)),
         "The program has 6.00 MFLOP, not counting lu, sort."),
        (CountDifference(6e6, left=-1e3, uncounted=("lu",)),
         ("The program has 6.00 MFLOP, not counting lu; XLA omits 1.00 kFLOP, for unknown"
          " reasons.")),
        (CountDifference(6e6, left=1e3, rewritten=("cumsum", "argmax")),
         ("The program has 6.00 MFLOP; XLA adds 1.00 kFLOP, since it computes cumsum, argmax"
          " differently.")),
        (CountDifference(54e9, left=-54e9, libraries=("cublas matmul", "cudnn convForward")),
         ("The program has 54.0 GFLOP; XLA does not count 54.0 GFLOP in library calls (cublas"
          " matmul, cudnn convForward).")),
        (CountDifference(6e6, left=-1e3, rewritten=("cumsum",)),
         "The program has 6.00 MFLOP; XLA omits 1.00 kFLOP, for unknown reasons."),
        (CountDifference(0.0, left=1e3),
         "The program has 0 FLOP; XLA adds 1.00 kFLOP, for unknown reasons."),
        ("As an old record says it", "As an old record says it"),
    ],
)  # fmt: skip
def test_why_a_compiler_counts_otherwise_is_told(why: CountDifference | str, words: str) -> None:
    graph = a_graph(compiled=Compiled(None, None, 512, 0, why=why))
    assert rows(graph)["compiled"] == f"512 B peak memory. {words}"
    assert Graph.from_dict(graph.to_dict()) == graph


def test_what_a_compiler_counts_is_one_line_and_what_devices_exchange_another() -> None:
    made = Compiled(2e6, 3 * MIB, 2 * MIB, MIB, (Collective("all-reduce", 2, 4096),))
    found = rows(a_graph(compiled=made))
    assert found["compiled"] == (
        "2.00 MFLOP, 3.00 MiB of memory traffic, 2.00 MiB peak memory (1.00 MiB for temporaries)"
    )
    assert found["communication"] == "2 all-reduce 4.00 KiB per device"
    captures = rows(a_graph(compiled=made, constants=(value("c"),)))["compiled"]
    assert "for captured arrays and temporaries" in captures
    assert "communication" not in rows(a_graph())


def test_arrays_are_named_as_long_as_they_are_few() -> None:
    named = tuple(value(f"x{n}", n) for n in range(1, 7))
    assert rows(a_graph(inputs=named, outputs=(value("", weak=True),)))["shapes"] == (
        "x1 f32[1], x2 f32[2], x3 f32[3], x4 f32[4], x5 f32[5], x6 f32[6] → f32[1] weak"
    )
    many = rows(a_graph(inputs=(*named, value("x7", 7))))["shapes"]
    assert many == "7 arrays 112 B → nothing"


@pytest.mark.parametrize(
    ("facts", "figure", "detail"),
    [
        ({}, "8 B", "jaxpr of 3 equations"),
        ({"flops": 20.0}, "20 FLOP · 8 B · 2.5 FLOP/B", "jaxpr of 3 equations"),
        ({"form": "optimized"}, "8 B", "optimized HLO of 3 equations"),
        ({"form": "stablehlo diff"}, "8 B", "difference in StableHLO"),
        ({"form": "aten", "framework": "torch", "operations": 1}, "8 B",
         "ATen graph of 1 operation"),
        # Bytes that are known when it runs are a question mark.
        ({"inputs": (value("x", sized=False),)}, "4 B + ?", "jaxpr of 3 equations"),
        ({"inputs": (value("x", sized=False),), "outputs": ()}, "?", "jaxpr of 3 equations"),
    ],
)  # fmt: skip
def test_the_headline_is_the_cost(facts: dict[str, object], figure: str, detail: str) -> None:
    graph = a_graph(**{"operations": 3, "inputs": (value("x"),), "outputs": (value(""),)} | facts)
    (found,) = (block for block in graph.report().blocks if isinstance(block, Headline))
    assert (found.figure, found.detail, found.verdict) == (figure, detail, "")


def test_static_fixed_and_captured_arguments_are_told_apart() -> None:
    found = rows(a_graph(static_argnames=("n",), fixed=("f", "mode"), constants=(value("c"),)))
    assert found["static"] == "n: the program depends on the value; use static_argnames='n'"
    assert found["baked in"] == "f, mode (not array inputs)"
    assert found["captured"] == "1 array, 4 B; part of the program, not an argument"
    found = rows(a_graph(static_argnames=("n", "k"), constants=(value("w", MIB // 4), value("c"))))
    assert found["static"].endswith("use static_argnames=('n', 'k')")
    assert found["captured"] == (
        "2 arrays, 1.00 MiB, the largest w f32[262144]; part of the program, not an argument"
    )


def test_how_it_was_traced_is_in_the_footer_and_what_is_traced_for_later_a_line() -> None:
    def footer(graph: Graph) -> tuple[str, ...]:
        last = graph.report().blocks[-1]
        assert isinstance(last, Footer)
        return last.parts

    assert footer(a_graph()) == ("traced once (100 ms), nothing was executed", "jax 0.10")
    assert footer(a_graph(tries=3, notes=(notes.call_made(1),)))[0] == "traced 3 times (100 ms)"
    assert rows(a_graph(warm=("g",))) == {
        "shapes": "nothing → nothing",
        "side effect": "g is now traced; its first call with these arguments will skip tracing",
    }
    both = rows(a_graph(warm=("g", "h"), cached=("k",)))
    assert both["side effect"] == (
        "g, h are now traced; their first call with these arguments will skip tracing"
    )
    assert both["cached"] == "k was already traced for these arguments"
    more = rows(a_graph(cached=("h", "k")))
    assert more["cached"] == "h, k were already traced for these arguments"


def test_a_long_text_is_folded() -> None:
    short, long = ("\n".join(map(str, range(n))) for n in (50, 51))
    assert a_graph(program=short).report().blocks[1] == Code("jaxpr", short)
    folded = a_graph(program=long, form="hlo").report().blocks[1]
    assert folded == Details("HLO, 51 lines", (Code("hlo", long),))


def test_breaks_prints_checks_and_notes_have_a_line_each() -> None:
    found = rows(a_graph(breaks=(Break(3, "if x.sum() > 0:", "it asks"),), clear=("a", "b")))
    assert found["graph break"] == "line 3, 'if x.sum() > 0': it asks"
    assert found["check"] == "no problems found; looked for a, b"
    unknown = a_graph(breaks=(Break(0, "", "it asks"),))
    assert rows(unknown)["graph break"] == "line unknown: it asks"
    other = rows(a_graph(framework="torch", details=("check",)))
    assert other["check"] == "--check supports JAX only"
    assert "check" not in rows(a_graph(details=("check",)))
    printed = "".join(f"{n}\n" for n in range(11))
    assert rows(a_graph(printed=printed))["printed"].splitlines()[8:] == ["8", "9", "..."]
    assert rows(a_graph(printed=printed[:-3]))["printed"].splitlines()[8:] == ["8", "9"]
    given = (notes.recomputed(2), notes.drawn_once(["random"]))
    (shown,) = (b for b in a_graph(notes=given).report().blocks if isinstance(b, Notes))
    assert [note.code for note in shown.notes] == ["drawn-once", "recomputed"]  # the gravest first


def test_tables_are_shown_where_they_are_asked_for_and_folded_where_it_is_long() -> None:
    stats = (Count("dot", 1200, 5e6), Count("copy", 1, 0.0))
    lines = (Count("y = x @ x", 2, 5e6, 3, ("dot", "add")), Count("f(x)", 1, 0.0, 0, ("neg",)))
    assert tables(a_graph(stats=stats, lines=lines, operations=100)) == []
    by_primitive, by_line = tables(a_graph(stats=stats, lines=lines, operations=101))
    assert (by_primitive.folded, by_line.folded) == (True, True)
    assert by_line.caption == "primitives by line"
    assert by_primitive.rows == (("dot", "1,200", "5.00 MFLOP"), ("copy", "1", ""))
    assert by_line.rows == (
        ("3  y = x @ x", "dot, add", "2", "5.00 MFLOP"),
        ("f(x)", "neg", "1", ""),
    )
    asked = tables(a_graph(stats=stats, lines=lines, details=("stats", "src"), framework="torch"))
    assert [table.folded for table in asked] == [False, True]
    assert asked[0].head == ("operation", "count", "work")


def listing(graph: Graph) -> Listing | None:
    return next((b for b in graph.report().blocks if isinstance(b, Listing)), None)


def test_lines_of_code_show_their_share_of_the_cost() -> None:
    lines = (Count("y = x @ x", 1, 3e6, 3, ("dot",), 2048.0), Count("y + 1", 1, 1e6, 4, ("add",)))
    assert listing(a_graph(lines=lines)) == Listing(
        "cost by line: FLOP · bytes before fusion",
        (("3", 0.75, "3.00 MFLOP · 2.00 KiB", "y = x @ x"), ("4", 0.25, "1.00 MFLOP", "y + 1")),
    )
    moved = (Count("x.T", 1, 0.0, 0, ("transpose",), 30.0), Count("x", 1, 0.0, 7, ("id",), 10.0))
    assert listing(a_graph(lines=moved)) == Listing(
        "cost by line: bytes before fusion", (("", 0.75, "30 B", "x.T"), ("7", 0.25, "10 B", "x"))
    )
    one = (Count("y = x @ x", 1, 3e6, 3, ("dot",)),)
    assert listing(a_graph(lines=one)) is None
    assert listing(a_graph(lines=one, details=("src",))) is not None
    free = (Count("a", 1, 0.0, 1), Count("b", 1, 0.0, 2))
    assert listing(a_graph(lines=free, details=("src",))) is None
    many = tuple(Count(f"x{n}", 1, 1.0 + n % 16, n) for n in range(18))
    found = listing(a_graph(lines=(many[16], *many[1:16], many[17])))
    assert found is not None
    assert [int(row[0]) for row in found.rows] == [*range(1, 16)]  # the costliest, in their order
    assert found.caption == "cost by line: FLOP; 2 cheaper lines left out"


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        (("dot_general", "add", "tanh", "neg"), "dot_general, add and 2 more"),
        (("dot_general", "convert"), "dot_general, convert"),
        (("dot_general", "logistic"), "dot_general and 1 more"),
    ],
)
def test_primitives_of_a_line_leave_room_for_its_code(parts: tuple[str, ...], shown: str) -> None:
    (table,) = tables(a_graph(lines=(Count("y", 4, 0.0, 1, parts),), details=("src",)))
    assert table.rows[0][1] == shown


def test_estimates_say_what_fits_and_what_does_not() -> None:
    chips = (
        Estimate("tpu:v5e", 2e-3, 5e6, 3 * MIB, 2 * MIB, 16 * MIB, padding=MIB),
        Estimate("tpu:v2", None, 5e6, 3 * MIB, 32 * MIB, 16 * MIB),
        Estimate("tpu:v3", limit=16 * MIB),
        Estimate("tpu:v4", limit=16 * MIB, error="it calls Python"),
        Estimate("tpu:v6e", None, None, None, 2 * MIB, 16 * MIB),
        Estimate("here (cpu)", None, 5e6, 3 * MIB, 2 * MIB, 64 * MIB),
    )
    graph = a_graph(estimates=chips)
    (table,) = tables(graph)
    assert table.rows == (
        ("tpu:v5e", "2.00 ms", "5.00 MFLOP", "3.00 MiB", "2.00 MiB of 16.0 MiB", "1.00 MiB"),
        ("tpu:v2", "too large", "5.00 MFLOP", "3.00 MiB", "32.0 MiB of 16.0 MiB", ""),
        ("tpu:v3", "too large", "", "", "more of 16.0 MiB", ""),
        ("tpu:v4", "failed", "", "", "", ""),
        ("tpu:v6e", "none", "?", "?", "2.00 MiB of 16.0 MiB", "0 B"),
        ("here (cpu)", "?", "5.00 MFLOP", "3.00 MiB", "2.00 MiB of 64.0 MiB", ""),
    )
    found = rows(graph)
    assert found["tpu:v2"] == "too large: 16.0 MiB of memory, needs 32.0 MiB"
    assert found["tpu:v3"] == "too large: 16.0 MiB of memory, needs more than that"
    assert found["tpu:v4"] == "it calls Python"
    assert found["time here"] == "Measure it with %fwtime."
    assert Graph.from_dict(graph.to_dict()) == graph


def test_what_several_chips_exchange_is_in_no_estimate() -> None:
    moved = (Collective("all-gather", 1, 2048),)
    chips = (Estimate("tpu:v5e:2x2", 1e-3, 1e6, MIB, MIB, 16 * MIB, collectives=moved),
             Estimate("here (cpu)", None, 1e6, MIB, MIB, 64 * MIB))  # fmt: skip
    graph = a_graph(estimates=chips, compiled=Compiled(1e6, None, 512, 0, moved))
    assert rows(graph)["communication"] == "tpu:v5e:2x2: 1 all-gather 2.00 KiB per device"
    assert rows(graph)["time here"] == (
        "Measure it with %fwtime. Estimates exclude communication between devices."
    )
    assert tables(graph)[0].caption == "compiler estimates, per chip; nothing was executed"
