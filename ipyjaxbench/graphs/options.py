"""Which form of a program is to be shown, and how much of it."""

from dataclasses import dataclass

from ipyjaxbench.errors import OptionError
from ipyjaxbench.option import Option, flag, option, options
from ipyjaxbench.validation import axes, chip, levels, shapes

#: Forms of a program by framework, in the order in which a compiler makes them; the first is what
#: is shown where none is asked for.
STAGES = {
    "jax": ("jaxpr", "stablehlo", "hlo", "optimized"),
    "torch": ("aten", "dynamo", "export"),
    "tensorflow": ("tf", "stablehlo", "hlo", "optimized"),
}
_ALL_STAGES = tuple(dict.fromkeys(stage for stages in STAGES.values() for stage in stages))
_PLATFORMS = ("cpu", "cuda", "rocm", "tpu")


@dataclass(frozen=True, kw_only=True)
class GraphOptions:
    """Which form of a program is to be shown, and how much of it; each option says what it does."""

    #: None takes the first one of the framework.
    stage: str | None = options(
        None,
        Option(
            "--stage hlo",
            _ALL_STAGES,
            "jaxpr, stablehlo, hlo or optimized (the compiler's result)",
        ),
        Option("--dynamo", "dynamo", "what torch.compile sees, with graph breaks; runs the call"),
        Option("--export", "export", "what torch.export produces"),
    )
    #: None takes the default device's.
    platform: str | None = option(
        None,
        "--platform tpu",
        _PLATFORMS,
        "lower for cpu, cuda, rocm or tpu; needs --stage stablehlo or hlo",
    )
    depth: int | None = options(
        1,
        Option("--depth", levels, "levels of nested programs to show in a long program (1)"),
        Option("--flat", None, "show all of a long program"),
    )
    find: str | None = option(
        None, "--find dot_general", str, "show only lines that contain this text"
    )
    stats: bool = flag("--stats", "count each primitive; show the compiler's own cost analysis")
    src: bool = flag("--src", "show the cost of each line of code")
    mermaid: bool = flag("--mermaid", "draw the program, in notebooks that render Mermaid")
    diff: str | None = option(
        None,
        "--diff last",
        ("last",),
        'show what differs from another call, "f(y)", or from the last run',
    )
    on: tuple[str, ...] = option(
        (),
        "--on tpu:v5e",
        chip,
        "estimate the cost on a chip, such as tpu:v5e or gpu:h100; repeatable",
        several=True,
    )
    shard: tuple[tuple[str, int], ...] = option(
        (), "--shard x:0", axes, "split axes over several chips: x:0,w:1"
    )
    shapes: tuple[tuple[str, tuple[int, ...]], ...] = option(
        (),
        '--shapes "f32[8,4], i32[]"',
        shapes,
        "call a function with arrays of these shapes, without data",
    )
    grad: bool = flag(
        "--grad",
        "show the gradient with respect to the first argument that has floats or complex numbers",
    )
    vmap: bool = flag("--vmap", "show the program under vmap, over the first axis")
    numpy: bool = flag("--np", "use jax.numpy where the code uses NumPy")
    check: bool = flag("--check", "report pitfalls, such as captured arrays and unrolled loops")
    tb: bool = flag("--tb", "show the full traceback if tracing fails")

    def __post_init__(self) -> None:
        """Refuse what breaks a rule, from Python as from a magic."""
        if self.stage is not None and self.stage not in _ALL_STAGES:
            raise OptionError(f"stage {self.stage!r}: must be one of {', '.join(_ALL_STAGES)}")
        if self.platform is not None and self.platform not in _PLATFORMS:
            raise OptionError(f"platform {self.platform!r}: must be one of {', '.join(_PLATFORMS)}")
        if self.platform is not None and self.stage not in ("stablehlo", "hlo"):
            raise OptionError("--platform needs --stage stablehlo or --stage hlo")
        if self.shard and not self.on:
            raise OptionError("--shard needs --on with several chips, such as --on tpu:v5e:2x2")

    @property
    def details(self) -> tuple[str, ...]:
        """What is to be said beyond the program: tables, and what was looked for."""
        asked = {"stats": self.stats, "src": self.src, "check": self.check}
        return tuple(name for name, is_asked in asked.items() if is_asked)

    def stage_of(self, framework: str) -> str:
        """Return the stage that is asked of a framework; raise for options that it has not."""
        stages = STAGES[framework]
        if self.stage is not None and self.stage not in stages:
            raise OptionError(
                f"stage {self.stage!r}: this is a {framework} program; its stages are"
                f" {', '.join(stages)}"
            )
        of_jax = {"--platform": self.platform, "--check": self.check, "--on": self.on,
                  "--grad": self.grad, "--vmap": self.vmap, "--np": self.numpy}  # fmt: skip
        asked = [flag for flag, is_given in of_jax.items() if is_given]
        if framework != "jax" and asked:
            raise OptionError(f"{asked[0]} works for JAX only, and this is a {framework} program")
        return self.stage or stages[0]
