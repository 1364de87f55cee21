"""The closed list of Notes."""

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
from ipyjaxbench.timing.validity import notes as validity_notes

MEANING, KNOW = "!", "·"
_in_magic = ExitStack()
_in_magic.enter_context(called_from("%fwtime"))  # advice is what can be typed there
#: What is given, and all of the Note that it makes.
EXAMPLES: list[tuple[Note, Note]] = [
    (
        notes.earlier_work(0.1),
        Note("earlier-work", "Waited 100 ms for work still running from earlier cells."),
    ),
    (
        notes.earlier_failed("ValueError: disk is full"),
        Note(
            "earlier-failed", "A computation of an earlier cell failed: ValueError: disk is full."
        ),
    ),
    (
        notes.unsynchronised(38e-6, 56.2),
        Note(
            "unsynchronised",
            "Without waiting for the result, a timer would show 38.0 µs: 56× too low.",
            mark=MEANING,
        ),
    ),
    (
        notes.calls_differ(96e-6, 0.005, 0.5),
        Note(
            "calls-differ",
            "The calls do different work: 50 % of them take 5.00 ms, the others 96.0 µs."
            " The time is the mean of both.",
        ),
    ),
    (
        notes.elsewhere(0.003),
        Note(
            "elsewhere",
            "The code starts 3.00 ms of work that its value does not depend on; the time"
            " includes it.",
        ),
    ),
    (
        notes.state_advanced(["rng", "model"], 1200),
        Note(
            "state-advanced",
            "'rng', 'model' advanced by 1,200 calls instead of one: changes in place and"
            " donated buffers cannot be undone.",
            mark=MEANING,
        ),
    ),
    (
        notes.not_all_kept(["rows"]),
        Note(
            "not-all-kept",
            "Too large to copy completely: rows. Changes that later calls made deep inside"
            " are neither undone nor reported.",
        ),
    ),
    (
        notes.put_back(["model", "opt", "a", "b", "c"], 3 * 2**20),
        Note(
            "put-back",
            "Restored to the state after the first call: model, opt, a, b and 1 more (the"
            " copies took 3.00 MiB).",
        ),
    ),
    (
        notes.started_anew(["items"], (0.034, 318e-6)),
        Note(
            "started-anew",
            "items: reset before each call (not timed) to the state before the first one. A"
            " call takes 34.0 ms from there, and 318 µs without the reset.",
        ),
    ),
    (
        notes.started_elsewhere(["items"], 0.034, 318e-6),
        Note(
            "started-elsewhere",
            "The first call changed items. The code takes 34.0 ms before that change and"
            " 318 µs after it; the latter was measured.",
            "create items in the setup:  %%fwtime items = ...",
            MEANING,
        ),
    ),
    (
        notes.fresh_copies(["x", "y"]),
        Note(
            "fresh-copies",
            "x, y: donated by the call. Each later call got a fresh copy (not timed).",
        ),
    ),
    (
        notes.runs_once("ValueError: used up"),
        Note(
            "runs-once",
            "The code runs only once: the second call raised ValueError: used up. The time"
            " is of the first call.",
            mark=MEANING,
        ),
    ),
    (
        notes.side_streams(0.61),
        Note(
            "side-streams",
            "For 61 % of the device's busy time only streams beside the default one work: CUDA"
            " events on the default stream do not count that. The time here does.",
        ),
    ),
    (
        notes.replays_graph(),
        Note(
            "replays-graph",
            "The call replays a CUDA graph. A call that does not, as with new shapes, launches"
            " each operation by itself and takes longer.",
        ),
    ),
    (
        notes.recompiled_apart(5, 0.00102, 0.00131),
        Note(
            "recompiled-apart",
            "Compiled 5 times, the code then takes 1.02 ms to 1.31 ms per call, in each of five"
            " rounds in turn: the programs differ. The time is that of one of them.",
            mark=MEANING,
        ),
    ),
    (
        notes.stopped_by_error(1234, "OSError: gone"),
        Note(
            "stopped-by-error",
            "Call 1,234 raised OSError: gone. The time is of the calls before it.",
            mark=MEANING,
        ),
    ),
    (
        notes.interrupted(),
        Note("interrupted", "Interrupted: the time is of the calls made until then."),
    ),
    (
        notes.over_budget(9.0),
        Note(
            "over-budget",
            "One call only: a second one would exceed the time budget.",
            "-b 36 for several calls",
        ),
    ),
    (
        notes.over_memory(0.873),
        Note(
            "over-memory",
            "One call only: repeating needs memory for 2 results, and 0.87 would fit.",
            "use smaller arrays, or free memory",
        ),
    ),
    (
        notes.needs_longer(0.041, 0.02, 2.0),
        Note(
            "needs-longer",
            "After 2.0 s the 95 % CI of the median is ±4.1 %.",
            "for ±2 %, use -b 9",
        ),
    ),
    (
        validity_notes.recompiles(40, 41, 0.046),
        Note(
            "recompiles",
            "40 of 41 samples compiled something, 46.0 ms of each call: there is no steady state.",
            "create the compiled function once, outside, and time its call",
            MEANING,
        ),
    ),
    (
        notes.compiled_late(2),
        Note("compiled-late", "2 samples with a compilation were left out."),
    ),
    (
        validity_notes.not_called("step"),
        Note(
            "not-called",
            "step is a function, but it is not called: only looking up its name was timed.",
            "step(...)",
            MEANING,
        ),
    ),
    (
        validity_notes.compiles_too(0.0065, 0.0348),
        Note(
            "compiles-too",
            "Every call traces or compiles something, which takes 6.50 ms of its 34.8 ms.",
        ),
    ),
    (
        validity_notes.left_running("thread", "t.join()"),
        Note(
            "left-running",
            "The code starts a thread and does not wait for it: only the start was timed.",
            "t.join()",
            MEANING,
        ),
    ),
    (
        validity_notes.warm_cache(40 * 2**20, 50 * 2**20, "H100", 12.5e-6),
        Note(
            "warm-cache",
            "Inputs and results (40.0 MiB) stay in the H100's L2 cache (50.0 MiB) between calls."
            " Where other work runs in between, a call takes up to 12.5 µs longer.",
        ),
    ),
    (
        validity_notes.lazy("generator", "list(gen())"),
        Note(
            "lazy",
            "The value is a generator, which does its work later: only creating it was timed.",
            "list(gen())",
            MEANING,
        ),
    ),
    (
        validity_notes.built_each_call(
            "jax.jit", 20.4e-6, 25e-6, "g = jax.jit(f) above, and time g(...)"
        ),
        Note(
            "built-each-call",
            "Every call runs jax.jit(...), which takes 20.4 µs of its 25.0 µs.",
            "g = jax.jit(f) above, and time g(...)",
        ),
    ),
    (
        validity_notes.constant_folded("f", 4_000_000, 2e6, 3),
        Note(
            "constant-folded",
            "f closes over 3.81 MiB of arrays. What depends on them alone was computed at"
            " compile time (constant folding): 2.00 MFLOP as written, 3 FLOP in each call.",
            "pass them as arguments",
            MEANING,
        ),
    ),
    (
        validity_notes.work_removed("model.step", 384e6, 160e3),
        Note(
            "work-removed",
            "The compiler removed work from model.step because its result is unused: 384"
            " MFLOP as written, 160 kFLOP in each call.",
            "return what you want to time",
            MEANING,
        ),
    ),
    (
        validity_notes.impossible_speed(2.7e9, 5.8e12, 1.78e11),
        Note(
            "impossible-speed",
            "As written, each call does 2.70 GFLOP: 5.80 TFLOP/s, more than the measured"
            " peak of 178 GFLOP/s. Some of the work was skipped.",
            mark=MEANING,
        ),
    ),
    (
        validity_notes.value_cached("table(...)", 0.0127, 19e-9),
        Note(
            "value-cached",
            "table(...) caches its value: the first call took 12.7 ms, later ones only"
            " looked it up (19.0 ns).",
            "clear its cache in the setup, or time what it calls",
            MEANING,
        ),
    ),
    (
        validity_notes.copy_kept("x", 7.37e-6),
        Note(
            "copy-kept",
            "x caches its copy on the host: converting a new array takes 7.37 µs, but only"
            " the first call did that.",
            "create x in the setup, so that each call converts a new array",
            MEANING,
        ),
    ),
    (
        validity_notes.used_up("gen", before=False),
        Note(
            "used-up",
            "The first call exhausted gen: later calls found it empty.",
            "create gen in the setup, or inside the timed code",
            MEANING,
        ),
    ),
    (
        notes.grows("xs", (1, 5001), (2e-6, 40e-6)),
        Note(
            "grows",
            "xs grew from 1 to 5,001 items, and calls got slower with it (2.00 µs at first,"
            " 40.0 µs at the end).",
            "create xs anew in the setup",
            MEANING,
        ),
    ),
    (
        notes.slows_down(1e-6, 3e-6),
        Note(
            "slows-down",
            "Every call takes longer than the one before, from 1.00 µs at first to 3.00 µs"
            " at the end: the code may keep something that grows.",
        ),
    ),
    (
        notes.below_clock(350e-9, 50e-9, 10_000),
        Note(
            "below-clock",
            "A sample lasts 350 ns: too short for the clock's resolution of 50.0 ns.",
            "-n 10000",
        ),
    ),
    (
        validity_notes.no_work(3.7e-9),
        Note(
            "no-work",
            "The code is about as fast as an empty loop (3.7 ns): there is nothing to time.",
            mark=MEANING,
        ),
    ),
    (
        notes.output_hidden(3),
        Note(
            "output-hidden",
            "What later calls printed (3 writes) is hidden; the time does not include"
            " displaying it.",
        ),
    ),
    (
        validity_notes.not_usable("torch", "ImportError: no"),
        Note(
            "not-usable",
            "torch is imported but cannot be used (ImportError: no), so its work was not"
            " waited for.",
            mark=MEANING,
        ),
    ),
    (
        validity_notes.unknown_part("jax", "compilations are not told."),
        Note("unknown-part", "jax: compilations are not told."),
    ),
    (
        validity_notes.copies("x may go from the host to jax cpu:0", 36_000_000),
        Note("copies", "In every call, x may go from the host to jax cpu:0 (34.3 MiB)."),
    ),
    (
        notes.names_stay_inside(["y", "z"]),
        Note(
            "names-stay-inside",
            "Not assigned: y, z. Before Python 3.13 the local variables of a running"
            " function cannot be set.",
        ),
    ),
    (
        validity_notes.narrowed(["x", "y"], "float64", "float32"),
        Note(
            "narrowed",
            "x, y are float64; JAX converts them to float32 because x64 is off.",
            'jax.config.update("jax_enable_x64", True) at startup, or use float32 everywhere',
            MEANING,
        ),
    ),
    (
        validity_notes.reduced_precision("gpu:0", 'mode is "fast"', 2.91e-4, "mode = exact"),
        Note(
            "reduced-precision",
            "TF32: float32 matrix products on gpu:0 are computed in it (relative error 3e-04, not"
            ' 1e-07): mode is "fast".',
            "mode = exact",
            MEANING,
        ),
    ),
    (
        validity_notes.default_precision("gpu:0", "JAX's default", 2.91e-4, "mode = exact"),
        Note(
            "default-precision",
            "TF32: float32 matrix products on gpu:0 are computed in it (relative error 3e-04, not"
            " 1e-07): JAX's default.",
            "mode = exact",
            MEANING,
        ),
    ),
    (
        validity_notes.setting_on("jax_disable_jit", "nothing is compiled", "turn it off"),
        Note("setting-on", "jax_disable_jit is on: nothing is compiled.", "turn it off", MEANING),
    ),
    (
        validity_notes.watched("torch.profiler"),
        Note(
            "watched",
            "torch.profiler is active: the time includes its overhead.",
            "stop it to time the code alone",
            MEANING,
        ),
    ),
    (
        validity_notes.processes(2, 0),
        Note("processes", "This is the time of process 0 of 2; the others may differ."),
    ),
    (
        comparison_notes.arm_failed("jax", "ValueError: no"),
        Note("arm-failed", "jax failed: ValueError: no.", mark=MEANING),
    ),
    (
        comparison_notes.other_result("jax", "numpy", " by 30 %"),
        Note(
            "other-result",
            "The result of jax differs from that of numpy by 30 %.",
            "compare code that computes the same result",
            MEANING,
        ),
    ),
    (
        comparison_notes.other_data("jax", "y", "numpy", "x"),
        Note(
            "other-data",
            "Different inputs: jax reads y, numpy reads x, and their values differ.",
            "make y from x, or both from one array",
            MEANING,
        ),
    ),
    (
        comparison_notes.other_dtype({"float32": ["jax", "torch"], "float64": ["numpy"]}),
        Note(
            "other-dtype",
            "Different dtypes: float32 (jax, torch); float64 (numpy).",
            "give every arm the same dtype, for example with x.astype('float32')",
            MEANING,
        ),
    ),
    (
        comparison_notes.other_device({"cpu": ["numpy"], "gpu": ["jax"]}),
        Note(
            "other-device",
            "Different devices: cpu (numpy); gpu (jax).",
            "move the data of every arm to the same device",
            MEANING,
        ),
    ),
    (
        comparison_notes.other_precision({"TF32": ["jax"], "float32": ["torch"]}),
        Note(
            "other-precision",
            "Different precision: TF32 (jax); float32 (torch).",
            "--align computes the products of every arm in float32",
            MEANING,
        ),
    ),
    (
        comparison_notes.other_threads({"1": ["torch"], "2": ["jax"]}),
        Note(
            "other-threads",
            "Different numbers of threads: 1 (torch); 2 (jax).",
            "--align gives every arm all CPUs",
            MEANING,
        ),
    ),
    (
        comparison_notes.eager_beside_compiled(["a"], ["b", "c"]),
        Note("eager-beside-compiled", "b, c are compiled, a is not."),
    ),
    (
        comparison_notes.not_compared("a, b", "they are larger than 1.00 GiB"),
        Note(
            "not-compared",
            "The results of a, b were not compared: they are larger than 1.00 GiB.",
        ),
    ),
    (
        validity_notes.half_product("x"),
        Note(
            "half-product",
            "NumPy uses the symmetry of x @ x.T: it computes half and mirrors it.",
            "for the full product, use x.T.copy(), made beforehand",
        ),
    ),
    (
        comparison_notes.half_alone("numpy", Note("half-product", "It computes half.", "copy it")),
        Note(
            "half-alone",
            "Not like for like: only numpy does half the work. It computes half.",
            "copy it",
            MEANING,
        ),
    ),
    (
        comparison_notes.undecided(["jax", "torch"], 4.4, 179.6, None),
        Note(
            "undecided",
            "jax, torch: undecided after 4.4 s.",
            "-b 180 for an answer (about 3 min 0 s)",
        ),
    ),
    (
        comparison_notes.few_samples(["jax", "torch"], 7, 20, None),
        Note(
            "few-samples",
            "jax, torch: undecided: 7 samples of each arm, at least 20 are needed.",
            "-r 20",
        ),
    ),
    (
        comparison_notes.depends_on_interleaving("jax", "numpy", "0.02×", 0.9),
        Note(
            "depends-on-interleaving",
            "jax takes 0.02× the time of numpy interleaved, and 0.90× when each runs alone: the"
            " arms affect each other, for example through caches or threads.",
            "time each arm on its own: with %fwtime --name and %fwcompare, or with measure",
            MEANING,
        ),
    ),
    (
        comparison_notes.slowed_by_others({"jax": 1.5, "torch": 2.0}),
        Note(
            "slowed-by-others",
            "torch takes 2.0× as long interleaved as alone, jax 1.5×: threads of other arms, or"
            " other programs, compete for the CPUs.",
            "time each arm on its own: with %fwtime --name and %fwcompare, or with measure",
            MEANING,
        ),
    ),
    (
        comparison_notes.copies_alone(
            "jax", Note("copies", "In every call x may go to jax cpu:0 (12 B).")
        ),
        Note(
            "copies-alone",
            "Not like for like: only jax copies data. In every call x may go to jax cpu:0 (12 B).",
            "make the copy in the setup, so that it is not timed",
            MEANING,
        ),
    ),
    (
        graph_notes.baked_in("f32[600,600]", 1_440_000),
        Note(
            "baked-in",
            "The function captures f32[600,600] (1.37 MiB) as a constant: each compilation holds"
            " a copy, and may fold it.",
            "pass it as an argument",
            MEANING,
        ),
    ),
    (
        graph_notes.unrolled(3, "x = f(x)", 20, 40),
        Note(
            "unrolled",
            "Unrolled loop: line 3, 'x = f(x)', was traced 20 times and became 40 equations,"
            " which compile slowly.",
            "jax.lax.fori_loop and jax.lax.scan trace the body once",
        ),
    ),
    (
        graph_notes.weak_output(["f32[]"]),
        Note(
            "weak-output",
            "The result (f32[]) is weakly typed, like a Python number. Fed back as an argument,"
            " it causes a recompilation.",
            "use x.astype(x.dtype), or start from jnp.asarray(0.0, 'float32')",
        ),
    ),
    (
        graph_notes.call_made(2),
        Note(
            "call-made",
            "The call ran 2 times, on copies of its tensors: after a graph break Python needs"
            " values. Side effects outside Python, such as written files, remain.",
            mark=MEANING,
        ),
    ),
    (
        graph_notes.called_back(["pure_callback", "device_put"]),
        Note(
            "called-back",
            "The program leaves the device at run time: pure_callback, device_put.",
            "remove this where speed matters",
            MEANING,
        ),
    ),
    (
        graph_notes.low_precision(["bfloat16"], 2),
        Note(
            "low-precision",
            "2 products of bfloat16 accumulate in low precision: long sums lose digits.",
            "preferred_element_type='float32' accumulates in float32",
        ),
    ),
    (
        graph_notes.donated_unused(["f32[4]"]),
        Note(
            "donated-unused",
            "f32[4] is donated for nothing: no result has its shape and dtype, so its memory is"
            " not reused.",
            "remove it from donate_argnums",
        ),
    ),
    (
        graph_notes.key_reused("In jit, argument 0 is already consumed."),
        Note(
            "key-reused",
            "A random key is used twice, and gives the same numbers both times: In jit, argument"
            " 0 is already consumed.",
            "split it: key, sub = jax.random.split(key), and use sub",
            MEANING,
        ),
    ),
    (
        graph_notes.promoted(3, "y = a * b", "bfloat16", "float32", 4096),
        Note(
            "promoted",
            "Line 3, 'y = a * b', promotes bfloat16 to float32 (4.00 KiB): one of its operands is"
            " float32.",
            "make that operand bfloat16; Python numbers do not promote",
        ),
    ),
    (
        graph_notes.resharded("w", "P(None, 'd')", "P()"),
        Note(
            "resharded",
            "A result with the shape of w is sharded as P(), and w as P(None, 'd'). Fed back as"
            " w, it causes a recompilation or a copy.",
            "use jax.jit(f, out_shardings=...), or jax.lax.with_sharding_constraint",
        ),
    ),
    (
        notes.looked_at(["step"]),
        Note(
            "looked-at",
            "%jaxpr has already traced step, so this first call was spared that.",
            "--fresh times a cold call",
        ),
    ),
    (
        graph_notes.copy_built(),
        Note(
            "copy-built",
            "The layer is not built yet: a copy was built and traced.",
        ),
    ),
    (
        graph_notes.recomputed(1),
        Note(
            "recomputed",
            "jax.checkpoint recomputes 1 part in the backward pass, to save memory.",
        ),
    ),
    (
        graph_notes.loops_once(),
        Note(
            "loops-once",
            "Compilers count one iteration of each loop: so do the estimated time, work, traffic"
            " and communication.",
            mark=MEANING,
        ),
    ),
    (
        graph_notes.no_estimate(["Cholesky", "Qr"]),
        Note(
            "no-estimate",
            "The estimate excludes what the compiler cannot estimate: Cholesky, Qr.",
            mark=MEANING,
        ),
    ),
    (
        graph_notes.nothing_cut("tpu:v5e:2x2", 4),
        Note(
            "nothing-cut",
            "Fully replicated: each of the 4 devices of tpu:v5e:2x2 holds and computes everything.",
            "--shard x:0 shards axis 0 of x",
            MEANING,
        ),
    ),
    (
        graph_notes.stays_whole(["p['b']", "p['c']"], 4),
        Note(
            "stays-whole",
            "Replicated on each device, since 4 does not divide the axis: p['b'], p['c'].",
        ),
    ),
    (
        graph_notes.padded(2**20, 4 * 2**20, "tpu:v5e"),
        Note(
            "padded",
            "25 % of the inputs and outputs on tpu:v5e is padding (1.00 MiB), which fills its"
            " tiles of 8 × 128 numbers.",
            "make the last axis a multiple of 128, and the one before of 8 (of 16 for 16-bit, 32"
            " for 8-bit dtypes)",
        ),
    ),
    (
        graph_notes.roofline_bound(),
        Note(
            "roofline-bound",
            "≥ is a bound, no estimate: matrix products at the dense peak of the GPU, arguments and"
            " results at its memory bandwidth.",
        ),
    ),
    (
        graph_notes.half_chips(["tpu:v2", "tpu:v3"]),
        Note(
            "half-chips",
            "JAX sees a tpu:v2, tpu:v3 chip as two devices: figures are for one of them.",
        ),
    ),
    (
        graph_notes.tracer_kept(["last", "self.cache"], put_back=True),
        Note(
            "tracer-kept",
            "The code stores a value in last, self.cache. During tracing that is a tracer without"
            " data, which fails when it is used later. The old value is restored.",
            "return the value instead",
            MEANING,
        ),
    ),
    (
        graph_notes.changed_while_traced(["self.n", "COUNT"], put_back=True),
        Note(
            "changed-while-traced",
            "The code modifies self.n, COUNT. A compiled function does so during tracing only,"
            " not in each call. The old value is restored.",
            "return the new value instead",
        ),
    ),
    (
        graph_notes.mixed_tree(["cfg['mode']"]),
        Note(
            "mixed-tree",
            "jax.jit rejects these parts of an argument: cfg['mode']. A pytree may hold only"
            " arrays and numbers.",
            "pass them as separate arguments, and make those static",
        ),
    ),
    (
        graph_notes.static_nan(["v"]),
        Note(
            "static-nan",
            "v is static and NaN. NaN equals nothing, so each new one recompiles.",
            "pass an array, or None",
            MEANING,
        ),
    ),
    (
        graph_notes.drawn_once(["np.random"]),
        Note(
            "drawn-once",
            "A random number is drawn from np.random during tracing: it becomes a constant, the"
            " same in each call.",
            "use jax.random with a key that is an argument",
            MEANING,
        ),
    ),
    (
        validity_notes.recorded("Autograd", "with torch.no_grad(): ... around it"),
        Note(
            "recorded",
            "Autograd records every call for a backward pass, which the time does not include.",
            "with torch.no_grad(): ... around it",
        ),
    ),
    (
        step_notes.loop_stopped(1),
        Note("loop-stopped", "Interrupted after 1 whole step: these are measured."),
    ),
    (
        step_notes.loop_failed("OSError: gone", 12),
        Note(
            "loop-failed",
            "The cell raised OSError: gone after 12 whole steps: these are measured.",
            mark=MEANING,
        ),
    ),
    (
        step_notes.computes_in_call(["torch"], [4, 5]),
        Note(
            "computes-in-call",
            "torch computes on the CPU, inside the calls in lines 4, 5: which part of their time"
            " Python takes and which the computation is not known.",
        ),
    ),
    (
        step_notes.device_behind(0.465),
        Note(
            "device-behind",
            "After the last step the device still had 465 ms of work: it was never idle, so less"
            " time for data or Python would not make the loop faster.",
        ),
    ),
    (
        step_notes.device_failed("jax cannot wait for its devices: gone."),
        Note("device-failed", "jax cannot wait for its devices: gone.", mark=MEANING),
    ),
    (
        step_notes.no_steps(3),
        Note(
            "no-steps",
            "No step came to its end: the loop in line 3 had nothing to go through, did not run,"
            " or is a fit() that is not of a Keras model.",
        ),
    ),
    (
        step_notes.fit_steps("jax"),
        Note(
            "fit-steps",
            "fit() was timed by its callbacks: with jax it draws batches inside of a step, so that"
            " waiting for them is in the step's own time, and `rest` is the time between steps.",
            "write the loop to know more:  for x, y in data: model.train_on_batch(x, y)",
        ),
    ),
    (
        step_notes.no_framework_call(),
        Note(
            "no-framework-call",
            "No statement of the loop calls JAX, PyTorch or TensorFlow: all of its body counts as"
            " host.",
        ),
    ),
]
_in_magic.close()


@pytest.fixture(autouse=True)
def in_magic() -> Iterator[None]:
    """Advice is what can be typed in a magic."""
    with called_from("%fwtime"):
        yield


def makers() -> list[Callable[..., Note]]:
    """Every function of the package that makes a Note."""
    rooms = (notes, validity_notes, comparison_notes, graph_notes, step_notes)
    functions = [f for room in rooms for _, f in inspect.getmembers(room, inspect.isfunction)]
    modules = {room.__name__ for room in rooms}
    own = [f for f in functions if f.__module__ in modules and not f.__name__.startswith("_")]
    return [f for f in own if f is not step_notes.notes_on]


@pytest.mark.parametrize(("made", "expected"), EXAMPLES, ids=lambda note: note.code)
def test_a_note_reads_exactly_so(made: Note, expected: Note) -> None:
    assert made == expected


def test_every_function_gives_a_code_of_its_own_that_it_is_named_after() -> None:
    codes = [note.code for note, _ in EXAMPLES]
    assert sorted(codes) == sorted(f.__name__.replace("_", "-") for f in makers())
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("note", [made for made, _ in EXAMPLES], ids=lambda note: note.code)
def test_a_note_is_a_sentence_of_one_line_with_a_known_mark(note: Note) -> None:
    assert note.text.endswith(".")
    assert len(note.text.splitlines()) == 1
    assert note.mark in (MEANING, KNOW)
    assert not note.advice.endswith(".") or note.advice.endswith("...")


@pytest.mark.parametrize(
    ("note", "text"),
    [
        (notes.compiled_late(1), ("1 sample with a compilation was left out.")),
        (
            validity_notes.recompiles(1, 1, None),
            ("1 of 1 sample compiled something: there is no steady state."),
        ),
        (
            notes.needs_longer(3.0, 0.02, 2.0),
            ("After 2.0 s the 95 % CI of the median is wider than ±100 %."),
        ),
        (
            notes.needs_longer(0.2, 0.02, 2.0),
            ("After 2.0 s the 95 % CI of the median is ±20 %."),
        ),
        (
            validity_notes.copies("data may go to a device", None),
            ("In every call, data may go to a device."),
        ),
        (
            validity_notes.narrowed(["x"], "int64", "int32"),
            ("x is int64; JAX converts it to int32 because x64 is off."),
        ),
        (
            validity_notes.recompiles(2, 2, None, "jit"),
            (
                "2 of 2 samples compiled something: there is no steady state, because jit(...)"
                " is called inside the timed code."
            ),
        ),
        (
            validity_notes.not_called("lambda: f(x)", call="f(x)", made=True),
            ("lambda: f(x) is a function, but it is not called: only creating it was timed."),
        ),
        (
            validity_notes.built_each_call("jax.grad", 9e-6, 600e-6, ""),
            ("Every call runs jax.grad(...)."),
        ),
        (validity_notes.built_each_call("jit", None, 1e-6, ""), ("Every call runs jit(...).")),
        (
            validity_notes.used_up("gen", before=True),
            ("An earlier run exhausted gen: the calls found it empty."),
        ),
        (
            validity_notes.no_work(None),
            ("The code is only a name or a constant: there is nothing to time."),
        ),
        (validity_notes.copies("x goes", 0), ("In every call, x goes (0 B).")),
        (
            notes.over_budget(9.0, again=True),
            ("One warm call only: it took longer than the time budget."),
        ),
        (
            notes.state_advanced(["x"], 2, restore=False),
            ("'x' advanced by 2 calls instead of one: restore=False keeps what the calls changed."),
        ),
        (
            notes.put_back(list("abcd"), 0),
            ("Restored to the state after the first call: a, b, c, d."),
        ),
        (
            notes.put_back(list("abcdefg"), 0),
            ("Restored to the state after the first call: a, b, c, d and 3 more."),
        ),
        (
            notes.started_anew(["xs"], None),
            ("xs: reset before each call (not timed) to the state before the first one."),
        ),
        (
            notes.needs_longer(1.0, 0.3, 2.0),
            ("After 2.0 s the 95 % CI of the median is ±100 %."),
        ),
        (
            notes.needs_longer(0.1, 0.02, 2.39),
            ("After 2.4 s the 95 % CI of the median is ±10 %."),
        ),
        (
            notes.needs_longer(0.1, 0.02, 2.41),
            ("After 2.4 s the 95 % CI of the median is ±10 %."),
        ),
        (
            validity_notes.recompiles(2, 2, 0.0),
            ("2 of 2 samples compiled something: there is no steady state."),
        ),
        (
            validity_notes.built_each_call("jit", 9.9e-6, 100e-6, ""),
            ("Every call runs jit(...)."),
        ),
        (
            validity_notes.built_each_call("jit", 10.1e-6, 100e-6, ""),
            ("Every call runs jit(...), which takes 10.1 µs of its 100 µs."),
        ),
        (
            validity_notes.impossible_speed(2**26, 67.1e9, 20e9, memory=True),
            (
                "As written, each call moves 64.0 MiB: 67.1 GB/s, more than the measured"
                " peak of 20.0 GB/s. Some of the work was skipped."
            ),
        ),
        (
            comparison_notes.eager_beside_compiled(["a", "b"], ["c"]),
            "c is compiled, a, b are not.",
        ),
    ],
)
def test_numbers_and_nouns_agree(note: Note, text: str) -> None:
    assert note.text == text


def test_the_advice_names_what_is_built_and_what_can_be_done() -> None:
    built = "create jit(...) once, outside, and time its call"
    assert validity_notes.recompiles(2, 2, None, "jit").advice == built
    assert validity_notes.not_called("lambda: f(x)", call="f(x)", made=True).advice == "f(x)"
    assert notes.below_clock(1e-7, 5e-8, None).advice == "do more work per call"
    emptied = validity_notes.value_cached("f(...)", 1.0, 0.1, "f.cache_clear(); f(3)")
    assert emptied.advice == "f.cache_clear(); f(3)"


def test_a_setting_may_be_worth_knowing_without_changing_what_a_figure_means() -> None:
    assert validity_notes.setting_on("cudnn.benchmark", "it tries", "", mark=KNOW).mark == KNOW
    assert [
        n.mark for n in (notes.grows("xs", (0, 9), (1.0, 2.0)), notes.slows_down(1.0, 2.0))
    ] == [
        MEANING,
        KNOW,
    ]


@pytest.mark.parametrize(("seconds", "budget"), [(0.01, 1), (0.4, 2), (9.0, 36), (100.2, 401)])
def test_the_budget_that_is_advised_holds_four_calls(seconds: float, budget: int) -> None:
    assert notes.over_budget(seconds).advice == f"-b {budget} for several calls"


def test_a_note_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        notes.interrupted().text = "other"  # type: ignore[misc]
