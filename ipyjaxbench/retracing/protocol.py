"""What a framework reports of single calls: whether they were traced, compiled or cached."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import MethodType
from typing import Any, NamedTuple

from ipyjaxbench.frameworks import Capability, DiskMiss, Framework, Program
from ipyjaxbench.retracing.cache_key import CacheMiss, Change, Property, Signature
from ipyjaxbench.retracing.kept_programs import Args, Invocation, KeptPrograms, Kwargs
from ipyjaxbench.retracing.read_changes import PartChange, ReadChange
from ipyjaxbench.retracing.traced_code import TracedCode
from ipyjaxbench.usercode import Reads, Site, how_to_define, is_of_library, unwrap


@dataclass(frozen=True)
class Outcome:
    """What happened in one call that did more than find its program."""

    state: str  # one of `ipyjaxbench.retracing.traces.STATES`
    phases: Mapping[str, float] = field(default_factory=dict)  # seconds of each
    nested: tuple[tuple[int, str], ...] = ()  # functions traced inside, with their depth
    framework_reason: str = ""
    breaks: int = 0  # graphs that the call was compiled into, less one
    why: tuple[Change, ...] = ()  # what the framework knows better than a signature tells
    fallback_reasons: tuple[Change, ...] = ()  # the framework's, where signatures do not differ
    known: bool | None = None  # whether the function had a program before; None if unclear
    disk_misses: tuple[DiskMiss, ...] = ()  # of programs that a cache on disk did not have
    signature: Signature | None = None  # with which the call began, where that was seen
    beside: tuple[Change, ...] = ()  # further causes, which signatures do not hold
    accepted: frozenset[Property] = frozenset()  # what the latest program takes as it is
    may_be_found: bool = False  # whether what seems to be traced may be a trace that was kept
    cleared: bool = False  # whether the framework had no program of the function any more
    traced_until: float | None = None  # in seconds of the elapsed clock; None if unclear


class Evidence(NamedTuple):
    """What a framework knows of why a call finds no program, beyond its signature."""

    changes: tuple[Change, ...] = ()  # where signatures do not differ
    beside: tuple[Change, ...] = ()  # further causes, which signatures do not hold
    accepted: frozenset[Property] = frozenset()  # what the latest program takes as it is


class KeptBody(NamedTuple):
    """A function of the user's that a loop runs, whose trace the framework keeps."""

    name: str
    function: Any
    reads: Reads  # of names around it, now
    is_given: bool = True  # to each call; else something was made of it once


class CachedCall(NamedTuple):
    """A call that found its program, as the framework saw it."""

    function: Any  # as the user has it
    args: Args
    kwargs: Kwargs
    site: Site  # the line of the user's code that led to it
    again: bool = False  # whether it was reported before, and there is more to know of it now
    outcome: Outcome | None = None  # where it found no program, and none was made


#: Gets what looks up the call; that gives None where it is none of the user's.
OnHit = Callable[[Callable[[], CachedCall | None]], None]


class CallWatch(AbstractContextManager["CallWatch"], ABC):
    """Watches calls of compiled functions while the context is open; changes no setting after."""

    #: What the framework keeps.
    kept = KeptPrograms()
    #: Whether it compiles code objects as they stand: then no function is changed meanwhile.
    compiles_code: bool = False
    #: Whether guards cover what programs read: what is stale all the same, `unguarded` tells.
    is_guarded: bool = False
    #: Whether code runs to be traced, and prints then and no more.
    prints_while_tracing: bool = True
    #: What drops all its traces, those of parts of programs too; quoted, empty where nothing does.
    how_to_drop_all: str = ""
    #: Parts of the framework's own messages, which set them apart from the user's prints.
    messages: tuple[str, ...] = ()

    def catch_up(self) -> None:
        """Watch, while the context is open, what of the framework was imported since."""

    @abstractmethod
    def takes(self, function: Any) -> bool:
        """Whether a value is a function that this framework compiles."""

    @abstractmethod
    def name(self, function: Any) -> str:
        """Return what the user calls the function."""

    def full_name(self, function: Any) -> str:  # noqa: ARG002
        """Return its name with that of what defines it, as in "make_a.step"; "" if not known."""
        return ""

    @abstractmethod
    def begin_call(self, function: Any, args: Args, kwargs: Kwargs) -> object:
        """Return what is to be compared after a call; it costs next to nothing."""

    @abstractmethod
    def end_call(self, function: Any, mark: Any) -> Outcome | None:
        """Return what happened since; None where the program was there."""

    def report_hits(self, on_hit: OnHit) -> None:
        """Report calls that find their program while the context is open, whoever makes them.

        A framework that does not tell reports none.
        """

    def settle(self) -> None:
        """Report the latest call, if only the next event would tell what it was."""

    @abstractmethod
    def signature(self, function: Any, args: Args, kwargs: Kwargs) -> Signature:
        """Return what the framework looks at to find a trace."""

    def token(self, function: Any) -> int:
        """Return what tells functions apart, also behind methods and partials."""
        return self.signature(function, (), {}).function

    def owner(self, function: Any) -> Any:
        """Return the object whose method it is, while others share its code; None of a function."""
        return function.__self__ if type(function) is MethodType else None

    def methods(self, value: Any) -> Mapping[str, Any]:  # noqa: ARG002
        """Return compiled methods of a library's object that runs the user's code, by name."""
        return {}

    def traced_code(self, function: Any, args: Args, kwargs: Kwargs) -> TracedCode | None:  # noqa: ARG002
        """Return what is compiled for such a call; None where guards cover what it reads."""
        return None

    def inspected(self, function: Any) -> Any:  # noqa: ARG002
        """Return the function whose trace a method finds or makes without a call, as `f.lower`.

        None for all others.
        """
        return None

    def applies(self, function: Any) -> bool:  # noqa: ARG002
        """Whether it calls the function that it is given first, as `jax.jvp` does."""
        return False

    def applied(self, function: Any, args: Args) -> Invocation | None:  # noqa: ARG002
        """Return the call of a compiled function that such a call makes; None where none does."""
        return None

    def may_hold_kept(self, function: Any) -> bool:  # noqa: ARG002
        """Whether a program of it may hold a part that was traced before it."""
        return False

    def keeps_bodies(self, function: Any) -> bool:  # noqa: ARG002
        """Whether it runs functions that it is given, and the framework keeps their traces."""
        return False

    def bodies(self, function: Any, args: Args, kwargs: Kwargs) -> Iterable[KeptBody]:  # noqa: ARG002
        """Return those of such a call."""
        return ()

    def stale_body(self, body: KeptBody, *call: Any) -> Change | None:  # noqa: ARG002
        """Return what may have changed since one was traced that a call runs.

        Args:
            body: that one.
            call: the function, its arguments and the named ones.
        """
        return None

    def how_to_renew_body(self, body: KeptBody) -> str:
        """Return what to type so that it is traced anew."""
        return how_to_define(body.function, f"`{body.name}`")

    def also_traced(self) -> tuple[str, ...]:
        """Return the user's functions that were traced outside of calls, and not within others."""
        return ()

    @abstractmethod
    def predicts(self, function: Any, args: Args, kwargs: Kwargs) -> bool | None:
        """Whether a call would be traced, found without running or compiling; None if not known."""

    def evidence(self, function: Any, args: Args, kwargs: Kwargs) -> Evidence:  # noqa: ARG002
        """Return why a call would find no program, beyond its signature, where that is known."""
        return Evidence()

    @abstractmethod
    def wait(self, value: object) -> None:
        """Wait for the result of a call."""

    @abstractmethod
    def fixes(self, name: str, why: Sequence[Change], function: Any) -> tuple[str, ...]:
        """Return what to write so that it does not happen again; only what applies."""

    def unguarded(self, function: Any, args: Args, kwargs: Kwargs) -> tuple[Change, ...]:  # noqa: ARG002
        """Return what changed since the program of a cached call was made and guards do not cover.

        Only where the others do.
        """
        return ()

    def unknown(self, function: Any) -> str:  # noqa: ARG002
        """Return what is not known of the call that `unguarded` looked at, and what to type."""
        return ""

    def unguarded_in_latest(self, function: Any) -> tuple[Change, ...]:  # noqa: ARG002
        """Return the same of the program that it used last, as far as no argument tells of it."""
        return ()

    def how_to_renew(self, function: Any, why: Sequence[Change]) -> str:
        """Return what to do where a program is stale, by what changed."""
        parts = [each.renew for each in why if isinstance(each, PartChange) and each.renew]
        if parts:
            return parts[0].replace("`", "")
        gone = [each.path for each in why if isinstance(each, ReadChange) and each.is_gone]
        if gone and len(gone) == len(why):
            return (
                f"define {', '.join(gone)} again: without it, {self.name(function)} does not trace"
            )
        again = self.how_to_define_again(function)
        if is_of_library(unwrap(function)):  # its arguments are as they are
            return again
        return f"pass what changes to {self.name(function)} as an argument, or {again}"

    def how_to_define_again(self, function: Any, quote: str = "") -> str:
        """Return what to do for a function of the same code that has no program yet.

        Args:
            function: as it is called.
            quote: to put around names.
        """
        return how_to_define(unwrap(function), f"{quote}{self.name(function)}{quote}")

    @abstractmethod
    def outside(self) -> tuple[Program, ...]:
        """Return the programs that were made outside of the calls that were asked about."""


class CallCompiler(NamedTuple):
    """What compiles functions when they are called, each by itself, and not what calls them."""

    name: str  # of what people give a function to, as "torch.compile"
    #: Has it look at calls of this thread, or not, where it gets None; returns what was given
    #: before. It is no code of Python, which would be a call.
    switch: Callable[[Any], Any]


class Retracing(Capability):
    """What a framework reports of tracing: of single calls, and from now on."""

    def call_watch(self) -> CallWatch | None:
        """Return what reports on single calls of compiled functions; None if nothing compiles."""
        return None

    def is_tracing(self, args: object) -> bool:  # noqa: ARG002
        """Whether a function that got these arguments runs to be traced."""
        return False

    def leave_uncompiled(self, function: Callable[..., Any]) -> CallCompiler | None:  # noqa: ARG002
        """Have a function of ours run as it is where calls are compiled; return what does that."""
        return None

    def listen(self, on_miss: Callable[[CacheMiss], None]) -> bool:  # noqa: ARG002
        """Report each call that is traced or compiled from now on; return whether it can."""
        return False


def call_watches(frameworks: Iterable[Framework]) -> Iterator[tuple[Framework, CallWatch]]:
    """Yield those of the frameworks that compile, each with a watch of its calls."""
    for framework in frameworks:
        watch = framework.capability(Retracing).call_watch()
        if watch is not None:
            yield framework, watch


Watches = Sequence[tuple[Framework, CallWatch]]
