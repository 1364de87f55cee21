"""What is to be shown of calls of compiled functions."""

from dataclasses import dataclass

from ipyjaxbench.errors import OptionError
from ipyjaxbench.option import flag, option
from ipyjaxbench.validation import count


@dataclass(frozen=True, kw_only=True)
class TraceOptions:
    """What is to be shown of calls of compiled functions; each option says what it does."""

    predict: bool = flag("--predict", "predict whether the call would be traced; nothing is run")
    most: int | None = option(
        None, "--max-traces", count, "fail if there are more traces than this"
    )
    history: bool = flag("--history", "list the signatures that functions were traced with")
    watch: str | None = option(
        None,
        "--watch on",
        ("on", "off"),
        "on or off: one line below each later cell that traces",
    )
    internal: bool = flag("--internal", "list everything that was compiled outside these calls")

    def __post_init__(self) -> None:
        """Refuse what breaks a rule, from Python as from a magic."""
        if self.watch not in (None, "on", "off"):
            raise OptionError(f"--watch {self.watch}: it is on or off")
        exclusive = {"--predict": self.predict, "--history": self.history, "--watch": self.watch}
        alone = [name for name, value in exclusive.items() if value]
        if len(alone) > 1:
            raise OptionError(f"{alone[0]} and {alone[1]} do not go together")

    def check(self, code: str, cell: str | None) -> None:
        """Refuse to go on without code, and options above a cell that go on a line of their own."""
        alone = self.predict or self.history or self.watch
        if cell is not None and alone:
            raise OptionError("--predict, --history and --watch go on a line of their own")
        if not (code or cell or self.watch or self.history):
            raise OptionError("there is nothing to run: %trace_cached f(x)")
