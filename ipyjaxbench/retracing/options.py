"""Options of ``%trace_cached``."""

from dataclasses import dataclass

from ipyjaxbench.errors import OptionError
from ipyjaxbench.frameworks import JobOptions
from ipyjaxbench.option import flag, option
from ipyjaxbench.validation import count


@dataclass(frozen=True, kw_only=True)
class TraceOptions(JobOptions):
    """What to report about calls of compiled functions; each option says what it does."""

    predict: bool = flag("--predict", "predict whether the call would be traced; nothing is run")
    most: int | None = option(
        None, "--max-traces", count, "fail if there are more traces than this"
    )
    signatures: bool = flag(
        "--signatures",
        "list the signatures that functions were traced with",
        old="--history",
    )
    watch: str | None = option(
        None,
        "--watch on",
        ("on", "off"),
        "on or off: one line below each later cell that traces or leaves a program stale",
    )
    internal: bool = flag("--internal", "list every program compiled outside these calls")

    def __post_init__(self) -> None:
        """Refuse what breaks a rule, from Python as from a magic."""
        if self.watch not in (None, "on", "off"):
            raise OptionError(f"--watch must be on or off, not {self.watch}")
        alone = self._alone
        if len(alone) > 1:
            raise OptionError(f"{alone[0]} cannot be combined with {alone[1]}")
        if self.engines and (self.signatures or self.watch):
            raise OptionError(
                f"{alone[0]} works in one process alone, without --engines. Type it in each:"
                f" %px %trace_cached {alone[0]}{' on' * bool(self.watch)}"
            )

    def check(self, code: str, cell: str | None) -> None:
        """Refuse to go on without code, and options above a cell that belong on a line."""
        if cell is not None and self._alone:
            raise OptionError(
                f"{self._alone[0]} only works on a single line: %trace_cached {self._alone[0]} ..."
            )
        if not (code or cell or self.watch or self.signatures):
            raise OptionError("nothing to run; add code, as in %trace_cached f(x)")

    @property
    def _alone(self) -> list[str]:
        """Those of its options that run no code, or watch other cells."""
        flags = {"--predict": self.predict, "--signatures": self.signatures, "--watch": self.watch}
        return [name for name, value in flags.items() if value]
