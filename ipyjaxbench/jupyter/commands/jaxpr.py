"""What can be typed after `%jaxpr`, `%fxgraph` and `%tfgraph`."""

from dataclasses import replace

from ipyjaxbench.jupyter.commands.command import SHOWN, Command, Option
from ipyjaxbench.options import PLATFORMS, STAGES, GraphOptions
from ipyjaxbench.validation import axes, chip, levels, shapes

FORMS = tuple(dict.fromkeys(stage for stages in STAGES.values() for stage in stages))

GRAPH = Command(
    name="jaxpr",
    options=GraphOptions,
    usage=("%jaxpr [options] call", "%%jaxpr [options]   (above a cell)"),
    rows=(
        Option(
            ("--stage",),
            "stage",
            str,
            "jaxpr, stablehlo, hlo, or optimized: what the compiler makes",
            sample="hlo",
            choices=FORMS,
        ),
        Option(
            ("--dynamo",),
            "stage",
            "dynamo",
            "what torch.compile would see, with graph breaks; runs it",
        ),
        Option(("--export",), "stage", "export", "what torch.export makes of it"),
        Option(
            ("--platform",),
            "platform",
            str,
            "lower for cpu, cuda, rocm or tpu, with stablehlo or hlo",
            sample="tpu",
            choices=PLATFORMS,
        ),
        Option(
            ("--depth",), "depth", levels, "levels of inner programs that a long text shows (1)"
        ),
        Option(("--flat",), "depth", None, "show all of a long text"),
        Option(
            ("--find",),
            "find",
            str,
            "show only lines with this text, as in --find dot_general",
            sample="dot_general",
        ),
        Option(
            ("--stats",),
            "stats",
            True,
            "how often each primitive is computed; what the compiler counts",
        ),
        Option(("--src",), "src", True, "how much each line of code computes"),
        Option(("--mermaid",), "mermaid", True, "draw it, where the notebook draws Mermaid"),
        Option(
            ("--diff",),
            "diff",
            str,
            'show what differs from another call, "f(y)", or from the last time',
            sample="last",
            choices=("last",),
        ),
        Option(
            ("--on",),
            "on",
            chip,
            "what a chip's compiler expects: tpu:v5e; may be given several times",
            sample="tpu:v5e",
            several=True,
        ),
        Option(
            ("--shard",),
            "shard",
            axes,
            "cut axes into a part for each of several chips: x:0,w:1",
            sample="x:0",
        ),
        Option(
            ("--shapes",),
            "shapes",
            shapes,
            "call a function with arrays of these: f32[8,4],i32[]",
            sample='"f32[8,4], i32[]"',
        ),
        Option(("--grad",), "grad", True, "the program of the gradient by the first argument"),
        Option(("--vmap",), "vmap", True, "the program for each row of the arrays"),
        Option(("--np",), "numpy", True, "take jax.numpy where the code takes NumPy"),
        Option(("--check",), "check", True, "say what the program holds that may not be expected"),
        Option(("--tb",), "tb", True, "show the whole traceback where tracing fails"),
        *SHOWN,
    ),
    examples="""\
examples:
  %jaxpr f(x, y)                        this call's program; nothing is computed
  %jaxpr x @ y + 1                      an expression that is no call
  %jaxpr --stage optimized f(x)         what the compiler makes of it
  %jaxpr --shapes "f32[8,4], i32[]" f   f of arrays of these shapes, no data
  %jaxpr --diff "f(x16)" f(x32)         what differs between two calls
  %jaxpr --diff last f(x)               what an edit of f has changed
  %jaxpr --on tpu:v5e --on tpu:v6e f(x) what TPUs would make of it, anywhere
  g = %jaxpr -q f(x)                    g.flops, g.static_argnames, g.jaxpr

from Python:
  ipyjaxbench.graph(f, x, y)
""",
)

FXGRAPH = replace(
    GRAPH,
    name="fxgraph",
    usage=("%fxgraph [options] call", "%%fxgraph [options]   (above a cell)"),
    examples="""\
examples:
  %fxgraph model(x)                     the ATen operations that this call is
  %fxgraph --dynamo model(x)            what torch.compile sees; graph breaks
  %fxgraph --export model(x)            what torch.export makes of it
  g = %fxgraph -q f(x)                  g.flops, g.graph

from Python:
  ipyjaxbench.graph(f, x, stage="aten")
""",
)
TFGRAPH = replace(
    GRAPH,
    name="tfgraph",
    usage=("%tfgraph [options] call", "%%tfgraph [options]   (above a cell)"),
    examples="""\
examples:
  %tfgraph f(x)                         the graph that tf.function makes of it
  %tfgraph --stage optimized f(x)       what XLA makes of it
  %tfgraph --shapes "f32[8,4]" f        f of such an array, without data
  g = %tfgraph -q f(x)                  g.flops, g.graph

from Python:
  ipyjaxbench.graph(f, x, stage="tf")
""",
)
