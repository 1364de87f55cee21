"""The closed list of Notes; the whole text of each stands in examples/reference.md."""

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from ipyjaxbench.comparison import notes as comparison_notes
from ipyjaxbench.errors import called_from
from ipyjaxbench.graphs import notes as graph_notes
from ipyjaxbench.reports.note import Note
from ipyjaxbench.steps import notes as step_notes
from ipyjaxbench.timing import notes
from ipyjaxbench.timing.validity import growth_notes, notes as validity_notes, setting_notes

MEANING, KNOW = "!", "·"
AGAIN = "pass what changes to f as an argument, or run the cell that defines f again"
STALE = ("f", "scale was 2.0 when f was traced, is 3.0", AGAIN)
_in_magic = ExitStack()
_in_magic.enter_context(called_from("%fwtime"))  # advice is what can be typed there
#: A Note of each kind, and what it says of what is given.
EXAMPLES: list[tuple[Note, str]] = [
    (
        validity_notes.warned(
            ["RuntimeWarning: overflow encountered in exp", "UserWarning: slow."]
        ),
        "Later calls warned: RuntimeWarning: overflow encountered in exp and 1 other warning.",
    ),
    (notes.earlier_work(0.1), "Waited 100 ms for work"),
    (notes.earlier_failed("ValueError: disk is full"), "failed: ValueError: disk is full."),
    (notes.unsynchronised(38e-6, 56.2), "would show 38.0 µs: 56× too low"),
    (notes.calls_differ(96e-6, 0.005, 0.5), "50 % of them take 5.00 ms, the others 96.0 µs."),
    (notes.elsewhere(0.003), "starts 3.00 ms of work"),
    (notes.state_advanced(["rng", "model"], 1200), "'rng', 'model' advanced by 1,200 calls"),
    (notes.jobs_ended(3, 1, 0), "4 jobs: 3 cancelled, 1 finished."),
    (notes.not_all_kept(["rows"]), "copy completely: rows."),
    (notes.not_all_followed(), "as setting global names, may be neither undone"),
    (notes.not_kept_before(["a (300 MiB)"]), "reset before each call: a (300 MiB)."),
    (
        notes.put_back(["model", "opt", "a", "b", "c"], 3 * 2**20),
        "the first call: model, opt, a, b and 1 more (the copies took 3.00 MiB).",
    ),
    (
        notes.changed_meanwhile({"hits": "thread 'adder'", "done": "thread 'adder'"}),
        "Not restored, or what thread 'adder' wrote would be lost: hits, done.",
    ),
    (
        notes.started_anew(["items"], (0.034, 318e-6)),
        "before the first one. A call takes 34.0 ms from there, and 318 µs without the reset.",
    ),
    (
        notes.started_elsewhere(["items"], 0.034, 318e-6),
        "changed items. The code takes 34.0 ms before that change and 318 µs after it",
    ),
    (notes.fresh_copies(["x", "y"]), "x, y: donated by the call."),
    (notes.runs_once("raised ValueError: used up"), "raised ValueError: used up."),
    (notes.side_streams(0.61), "For 61 % of the device's busy time"),
    (notes.replays_graph(), "replays a CUDA graph"),
    (notes.recompiled_apart(5, 0.00102, 0.00131), "Compiled 5 times, the code then takes 1.02 ms"),
    (notes.stopped_by_error(1234, "raised OSError: gone"), "Call 1,234 raised OSError: gone."),
    (notes.interrupted(), "the time is of the calls made until then."),
    (notes.over_budget(9.0), "One call only: a second one would exceed the time budget."),
    (notes.over_memory(0.873), "memory for 2 results, and 0.87 would fit."),
    (notes.needs_longer(0.041, 0.02, 2.0), "After 2.0 s the 95 % CI of the median is ±4.1 %."),
    (validity_notes.recompiles(40, 41, 0.046), "40 of 41 samples compiled something, 46.0 ms of"),
    (notes.compiled_late(2), "2 samples with a compilation were left out."),
    (
        validity_notes.not_called("step"),
        "step is a function, but it is not called: only looking up",
    ),
    (validity_notes.compiles_too(0.0065, 0.0348), "which takes 6.50 ms of its 34.8 ms."),
    (validity_notes.left_running("thread", "t.join()"), "The code starts a thread and"),
    (
        validity_notes.warm_cache(40 * 2**20, 50 * 2**20, "H100", 12.5e-6),
        "(40.0 MiB) stay in the H100's L2 cache (50.0 MiB) between calls.",
    ),
    (
        validity_notes.warm_cpu_cache(8 * 2**20, 32 * 2**20),
        "(8.00 MiB) fit into the CPU's last-level cache (32.0 MiB) and can stay there",
    ),
    (validity_notes.lazy("generator", "list(gen())"), "The value is a generator, which"),
    (
        validity_notes.built_each_call(
            "jax.jit", 20.4e-6, 25e-6, "g = jax.jit(f) above, and time g(...)"
        ),
        "Every call runs jax.jit(...), which takes 20.4 µs of its 25.0 µs.",
    ),
    (
        validity_notes.converted_once("net", "float32", "float64"),
        "The first call changed net from float32 to float64: later calls found it so, and",
    ),
    (
        validity_notes.constant_folded("f", 4_000_000, 2e6, 3),
        "at compile time (constant folding): 2.00 MFLOP as written, 3 FLOP in each call.",
    ),
    (
        validity_notes.work_removed("model.step", 384e6, 160e3),
        "unused: 384 MFLOP as written, 160 kFLOP in each call.",
    ),
    (
        validity_notes.impossible_speed(2.7e9, 5.8e12, 1.78e11),
        "does 2.70 GFLOP: 5.80 TFLOP/s, more than the measured peak of 178 GFLOP/s.",
    ),
    (
        validity_notes.part_cached("model(...)", "model.cache_clear(); predict(x)"),
        "model(...) caches its value: the time is of calls that look it up.",
    ),
    (
        validity_notes.value_cached("table(...)", 0.0127, 19e-9),
        "the first call took 12.7 ms, later ones only looked it up (19.0 ns).",
    ),
    (validity_notes.copy_kept("x", 7.37e-6), "converting a new array takes 7.37 µs, but only"),
    (validity_notes.used_up("gen", before=False), "The first call exhausted gen: later calls"),
    (
        validity_notes.emptied("file", "str", "an empty str"),
        "The first call gave a value (str), later calls an empty str: they used up file.",
    ),
    (
        growth_notes.grows("xs", (1, 5001), (2e-6, 40e-6)),
        "xs grew from 1 to 5,001 items, and calls got slower with it (2.00 µs at first, 40.0 µs at",
    ),
    (growth_notes.slows_down(1e-6, 3e-6), "from 1.00 µs at first to 3.00 µs at the end"),
    (
        notes.below_clock(350e-9, 50e-9, 10_000),
        "lasts 350 ns: too short for the clock's resolution",
    ),
    (validity_notes.no_work(3.7e-9), "about as fast as an empty loop (3.7 ns): there is nothing"),
    (validity_notes.output_hidden(3), "printed (3 writes) is hidden"),
    (setting_notes.not_usable("torch", "ImportError: no"), "cannot be used (ImportError: no), so"),
    (setting_notes.unknown_part("jax", "compilations are not told."), "jax: compilations are not"),
    (validity_notes.copies("x may go from the host to jax cpu:0", 36_000_000), "cpu:0 (34.3 MiB)."),
    (notes.names_stay_inside(["y", "z"]), "Not assigned: y, z."),
    (setting_notes.narrowed(["x", "y"], "float64", "float32"), "x, y are float64; JAX converts"),
    (
        setting_notes.reduced_precision("gpu:0", 'mode is "fast"', 2.91e-4, "mode = exact"),
        "TF32: float32 matrix products on gpu:0 are computed in it (relative error 3e-04, not",
    ),
    (
        setting_notes.default_precision("gpu:0", "JAX's default", 2.91e-4, "mode = exact"),
        "(relative error 3e-04, not 1e-07): JAX's default",
    ),
    (setting_notes.setting_on("jax_disable_jit", "nothing is compiled", "turn it off"), "is on:"),
    (setting_notes.watched("torch.profiler"), "torch.profiler is active"),
    (
        setting_notes.stale_program(*STALE),
        "f runs a stale program: scale was 2.0",
    ),
    (setting_notes.shapes_only(), "a shape and no numbers, as on the meta device"),
    (setting_notes.processes(2, 0), "the time of process 0 of 2;"),
    (comparison_notes.arm_failed("jax", "ValueError: no"), "jax failed: ValueError: no."),
    (
        comparison_notes.other_result("jax", "numpy", " by 30 %"),
        "jax differs from that of numpy by",
    ),
    (comparison_notes.other_data("jax", "y", "numpy", "x"), "jax reads y, numpy reads x, and"),
    (
        comparison_notes.other_dtype({"float32": ["jax", "torch"], "float64": ["numpy"]}),
        "float32 (jax, torch); float64 (numpy).",
    ),
    (comparison_notes.other_device({"cpu": ["numpy"], "gpu": ["jax"]}), "cpu (numpy); gpu (jax)"),
    (
        comparison_notes.other_precision({"TF32": ["jax"], "float32": ["torch"]}),
        "TF32 (jax); float32",
    ),
    (comparison_notes.other_threads({"1": ["torch"], "2": ["jax"]}), "1 (torch); 2 (jax)."),
    (comparison_notes.eager_beside_compiled(["a"], ["b", "c"]), "b, c are compiled, a is not."),
    (
        comparison_notes.not_compared("a, b", "they are larger than 1.00 GiB"),
        "a, b were not compared",
    ),
    (validity_notes.half_product("x"), "the symmetry of x @ x.T: it computes half"),
    (
        comparison_notes.half_alone("numpy", Note("half-product", "It computes half.", "copy it")),
        "only numpy does half the work. It computes half.",
    ),
    (
        comparison_notes.undecided(["jax", "torch"], 4.4, 179.6, None),
        "jax, torch: undecided after 4.4 s.",
    ),
    (
        comparison_notes.few_samples(["jax", "torch"], 7, 20, None),
        "jax, torch: undecided: 7 samples of each arm, at least 20 are needed.",
    ),
    (
        comparison_notes.depends_on_interleaving("jax", "numpy", "0.02×", 0.9),
        "jax takes 0.02× the time of numpy interleaved, and 0.90× when each runs alone",
    ),
    (
        comparison_notes.slowed_by_others({"jax": 1.5, "torch": 2.0}),
        "torch takes 2.0× as long interleaved as alone, jax 1.5×: threads",
    ),
    (
        comparison_notes.copies_alone(
            "jax", Note("copies", "In every call x may go to jax cpu:0 (12 B).")
        ),
        "only jax copies data. In every call x may go",
    ),
    (graph_notes.baked_in("f32[600,600]", 1_440_000), "captures f32[600,600] (1.37 MiB) as"),
    (
        graph_notes.unrolled(3, "x = f(x)", 20, 40),
        "line 3, 'x = f(x)', was traced 20 times and became 40 equations",
    ),
    (graph_notes.weak_output(["f32[]"]), "The result (f32[]) is weakly typed"),
    (graph_notes.call_made(2), "The call ran 2 times"),
    (graph_notes.called_back(["pure_callback", "device_put"]), "pure_callback, device_put."),
    (graph_notes.low_precision(["bfloat16"], 2), "2 products of bfloat16 accumulate"),
    (graph_notes.donated_unused(["f32[4]"]), "f32[4] is donated for nothing: no result has its"),
    (
        graph_notes.key_reused("In jit, argument 0 is already consumed."),
        "times: In jit, argument 0",
    ),
    (
        graph_notes.promoted(3, "y = a * b", "bfloat16", "float32", 4096),
        "Line 3, 'y = a * b', promotes bfloat16 to float32 (4.00 KiB): one of",
    ),
    (
        graph_notes.resharded("w", "P(None, 'd')", "P()"),
        "shape of w is sharded as P(), and w as P(None, 'd'). Fed back as w, it causes",
    ),
    (notes.looked_at(["step"]), "%jaxpr has already traced step, so"),
    (graph_notes.copy_built(), "a copy was built and traced."),
    (graph_notes.recomputed(1), "recomputes 1 part in the backward pass"),
    (graph_notes.loops_once(), "Compilers count one iteration of each loop"),
    (graph_notes.no_estimate(["Cholesky", "Qr"]), "cannot estimate: Cholesky, Qr."),
    (graph_notes.nothing_cut("tpu:v5e:2x2", 4), "each of the 4 devices of tpu:v5e:2x2 holds"),
    (
        graph_notes.stays_whole(["p['b']", "p['c']"], 4),
        "4 does not divide the axis: p['b'], p['c'].",
    ),
    (graph_notes.padded(2**20, 4 * 2**20, "tpu:v5e"), "25 % of the inputs and outputs on tpu:v5e"),
    (graph_notes.roofline_bound(), "≥ is a bound"),
    (
        graph_notes.cached_is_stale(*STALE),
        "Calls of f run another program, which was compiled earlier: scale was 2.0",
    ),
    (graph_notes.half_chips(["tpu:v2", "tpu:v3"]), "a tpu:v2, tpu:v3 chip as two devices"),
    (
        graph_notes.tracer_kept(["last", "self.cache"], put_back=True),
        "a value in last, self.cache.",
    ),
    (
        graph_notes.changed_while_traced(["self.n", "COUNT"], put_back=True),
        "modifies self.n, COUNT",
    ),
    (graph_notes.mixed_tree(["cfg['mode']"]), "parts of an argument: cfg['mode']."),
    (graph_notes.static_nan(["v"]), "v is static and NaN."),
    (graph_notes.drawn_once(["np.random"]), "drawn from np.random during tracing"),
    (
        setting_notes.recorded("Autograd", "with torch.no_grad(): ... around it"),
        "Autograd records",
    ),
    (step_notes.loop_stopped(1), "Interrupted after 1 whole step: these are measured."),
    (
        step_notes.loop_failed("OSError: gone", 12, is_open=True),
        "gone after 12 whole steps: these are measured, without what devices had left",
    ),
    (
        step_notes.computes_in_call(["torch"], [4, 5]),
        "torch computes on the CPU, inside the calls in lines 4, 5: which",
    ),
    (step_notes.device_behind(0.465), "the device still had 465 ms of work"),
    (step_notes.device_failed("jax cannot wait for its devices: gone."), "its devices: gone."),
    (step_notes.no_steps(3), "the loop in line 3 had"),
    (step_notes.fit_steps("jax"), "with jax it draws batches inside of a step"),
    (step_notes.no_framework_call(), "No statement of the loop calls"),
]
_in_magic.close()
MISLEADING = {
    *("unsynchronised", "state-advanced", "started-elsewhere", "runs-once", "recompiled-apart"),
    *("stopped-by-error", "recompiles", "not-called", "left-running", "lazy", "constant-folded"),
    *(
        "warned",
        "work-removed",
        "impossible-speed",
        "value-cached",
        "copy-kept",
        "used-up",
        "emptied",
    ),
    *("grows", "no-work", "not-usable", "narrowed", "reduced-precision", "setting-on", "watched"),
    *("arm-failed", "other-result", "other-data", "other-dtype", "other-device"),
    *("other-precision", "other-threads", "half-alone", "depends-on-interleaving"),
    *("slowed-by-others", "copies-alone", "baked-in", "call-made", "called-back", "key-reused"),
    *("loops-once", "no-estimate", "nothing-cut", "tracer-kept", "static-nan", "drawn-once"),
    *("loop-failed", "device-failed", "default-precision", "stale-program"),
    *("cached-is-stale", "converted-once", "shapes-only"),
}


@pytest.fixture(autouse=True)
def in_magic() -> Iterator[None]:
    """Advice is what can be typed in a magic."""
    with called_from("%fwtime"):
        yield


def makers() -> list[Callable[..., Note]]:
    """Every function of the package that makes a Note."""
    rooms = (notes, validity_notes, growth_notes, setting_notes, comparison_notes, graph_notes,
             step_notes)  # fmt: skip
    functions = [f for room in rooms for _, f in inspect.getmembers(room, inspect.isfunction)]
    modules = {room.__name__ for room in rooms}
    own = [f for f in functions if f.__module__ in modules and not f.__name__.startswith("_")]
    return [f for f in own if f is not step_notes.notes_on]


def test_every_function_gives_a_code_of_its_own_that_it_is_named_after() -> None:
    codes = [note.code for note, _ in EXAMPLES]
    assert sorted(codes) == sorted(f.__name__.replace("_", "-") for f in makers())
    assert len(set(codes)) == len(codes)


def test_the_mark_says_whether_it_changes_what_a_figure_means() -> None:
    assert {note.code for note, _ in EXAMPLES if note.mark == MEANING} == MISLEADING
    assert {note.mark for note, _ in EXAMPLES} == {MEANING, KNOW}
    assert setting_notes.setting_on("cudnn.benchmark", "it tries", "", mark=KNOW).mark == KNOW


@pytest.mark.parametrize(("note", "words"), EXAMPLES, ids=[note.code for note, _ in EXAMPLES])
def test_a_note_is_a_sentence_of_one_line(note: Note, words: str) -> None:
    assert words in note.text
    assert note.text.endswith(".")
    assert len(note.text.splitlines()) == 1
    assert not note.advice.endswith(".") or note.advice.endswith("...")


@pytest.mark.parametrize(
    ("note", "text"),
    [
        (notes.compiled_late(1), "1 sample with a compilation was left out."),
        (validity_notes.recompiles(1, 1, None),
         "1 of 1 sample compiled something: there is no steady state."),
        (validity_notes.recompiles(2, 2, 0.0),
         "2 of 2 samples compiled something: there is no steady state."),
        (validity_notes.recompiles(2, 2, None, "jit"),
         "there is no steady state, because jit(...) is called inside the timed code."),
        (notes.needs_longer(3.0, 0.02, 2.0),
         "After 2.0 s the 95 % CI of the median is wider than ±100 %."),
        (notes.needs_longer(1.0, 0.3, 2.39), "After 2.4 s the 95 % CI of the median is ±100 %."),
        (validity_notes.copies("data may go to a device", None),
         "In every call, data may go to a device."),
        (validity_notes.copies("x goes", 0), "In every call, x goes (0 B)."),
        (setting_notes.narrowed(["x"], "int64", "int32"),
         "x is int64; JAX converts it to int32 because x64 is off."),
        (validity_notes.not_called("lambda: f(x)", call="f(x)", made=True),
         "lambda: f(x) is a function, but it is not called: only creating it was timed."),
        (validity_notes.built_each_call("jit", None, 1e-6, ""), "Every call runs jit(...)."),
        (validity_notes.built_each_call("jit", 9.9e-6, 100e-6, ""), "Every call runs jit(...)."),
        (validity_notes.built_each_call("jit", 10.1e-6, 100e-6, ""),
         "Every call runs jit(...), which takes 10.1 µs of its 100 µs."),
        (validity_notes.built_each_call("jit", 101e-6, 100e-6, ""), "Every call runs jit(...)."),
        (comparison_notes.other_data("b", "z", "a", "z"),
         "Different inputs: a and b read z, each its own, and their values differ."),
        (validity_notes.used_up("task", job=True),
         "The first call waited for task: later calls found it done."),
        (validity_notes.used_up("gen", before=True),
         "An earlier run exhausted gen: the calls found it empty."),
        (validity_notes.no_work(None),
         "The code is only a name or a constant: there is nothing to time."),
        (validity_notes.impossible_speed(2**26, 67.1e9, 20e9, memory=True),
         "each call moves 64.0 MiB: 67.1 GB/s, more than the measured peak of 20.0 GB/s. Some"),
        (notes.over_budget(9.0, again=True),
         "One warm call only: it took longer than the time budget."),
        (notes.state_advanced(["x"], 2, restore=False),
         "'x' advanced by 2 calls instead of one: restore=False keeps what the calls changed."),
        (notes.jobs_ended(0, 0, 1), "Later calls started 1 job: 1 still running."),
        (notes.put_back(list("abcd"), 0),
         "Restored to the state after the first call: a, b, c, d."),
        (notes.put_back(list("abcdefg"), 0),
         "Restored to the state after the first call: a, b, c, d and 3 more."),
        (notes.started_anew(["xs"], None),
         "xs: reset before each call (not timed) to the state before the first one."),
        (comparison_notes.eager_beside_compiled(["a", "b"], ["c"]), "c is compiled, a, b are not."),
    ],
)  # fmt: skip
def test_numbers_and_nouns_agree(note: Note, text: str) -> None:
    assert text in note.text


def test_the_advice_names_what_is_built_and_what_can_be_done() -> None:
    built = "create jit(...) once, outside, and time its call"
    assert validity_notes.recompiles(2, 2, None, "jit").advice == built
    reused = validity_notes.recompiles(2, 2, None, reused=["step", "loss"])
    assert reused.advice.startswith("give step, loss the same shapes and static values")
    unknown = validity_notes.recompiles(2, 2, None, reused=None)
    assert unknown.advice.startswith("keep all shapes the same in each call, or create")
    assert validity_notes.not_called("lambda: f(x)", call="f(x)", made=True).advice == "f(x)"
    assert notes.below_clock(1e-7, 5e-8, None).advice == "do more work per call"
    emptied = validity_notes.value_cached("f(...)", 1.0, 0.1, "f.cache_clear(); f(3)")
    assert emptied.advice == "f.cache_clear(); f(3)"


@pytest.mark.parametrize(("seconds", "budget"), [(0.01, 1), (0.4, 2), (9.0, 36), (100.2, 401)])
def test_the_budget_that_is_advised_holds_four_calls(seconds: float, budget: int) -> None:
    assert notes.over_budget(seconds).advice == f"-b {budget} for several calls"


def test_a_note_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        notes.interrupted().text = "other"  # type: ignore[misc]
