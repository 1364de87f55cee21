"""The contract of an adapter: one file per framework, one class, nothing optional.

An adapter is made only when its framework has been imported by the user, and it must never
import, initialise or change anything that the user did not. What a framework cannot tell is
answered with None, an empty dictionary or an empty tuple.

To add a framework, write one class and name it in your package's metadata::

    [project.entry-points."ipyjaxbench.frameworks"]
    cupy = "my_package.adapter:CuPy"      # key of sys.modules = module:class
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ipyjaxbench.device.inventory import Home
from ipyjaxbench.device.memory_settings import MemorySetting
from ipyjaxbench.device.microbenchmark_protocol import Probe
from ipyjaxbench.device.placement import Located, Weight
from ipyjaxbench.device.protocol import CrossingWatch, Tell
from ipyjaxbench.frameworks.compilation import Fresh, Watch, Work
from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.frameworks.state.undo import Room, State
from ipyjaxbench.graphs.components import Load
from ipyjaxbench.graphs.diagnosis import Diagnosis
from ipyjaxbench.graphs.graph import Graph
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.reports.note import Note
from ipyjaxbench.retracing.cache_key import Miss
from ipyjaxbench.retracing.protocol import CallWatch
from ipyjaxbench.timing.device_time import Profile
from ipyjaxbench.timing.validity.code_facts import Seen
from ipyjaxbench.usercode.call import Call

Wait = Callable[[Any], object]
Restore = Callable[[], None]


class Framework(ABC):
    """What the timer needs to know of one array framework.

    Attributes:
        name: its name in reports, in lower case.
        module: its key in `sys.modules`.
        gaps: what this version does not tell, each a sentence; found by self-tests.
        builders: its functions that make a function of a function, such as `jax.jit`, each with
            the name of the one that compiles what it gives, or "" where it does so itself.
        immutable: its arrays are never changed in place.
        keeps_copies: its arrays keep the copy on the host that was made of them.
        spins: its threads on the CPU spin while they wait for each other, as OpenMP's do.
    """

    name: str
    module: str
    gaps: tuple[str, ...] = ()
    builders: tuple[tuple[object, str], ...] = ()
    immutable: bool = False
    keeps_copies: bool = False
    spins: bool = False

    @abstractmethod
    def version(self) -> str:
        """The installed version, such as "0.10.2"."""

    @abstractmethod
    def started(self) -> bool:
        """Whether its runtime is initialised, so that touching its devices changes nothing."""

    @abstractmethod
    def owns(self, kind: type) -> bool:
        """Whether instances of ``kind`` are its arrays."""

    @abstractmethod
    def compiles(self, value: object) -> bool:
        """Whether ``value`` is a function that it compiles, such as the result of `jax.jit`."""

    @abstractmethod
    def parts(self, value: object) -> Iterable[object] | None:
        """The arrays of a container of its own, such as a module's parameters; None otherwise."""

    @abstractmethod
    def placement(self, array: Any) -> Placement:
        """Type and place of one array; must not fail for a deleted one."""

    @abstractmethod
    def free_memory(self) -> int:
        """Bytes that its arrays may still take, on the fullest device in use."""

    @abstractmethod
    def waiter(self, value: object, arrays: Sequence[Any]) -> Wait | None:
        """The cheapest way to wait for values built like ``value``.

        Args:
            value: an example, such as the result of the first call.
            arrays: the arrays of this framework inside it, at least one.

        Returns:
            A function of such a value that returns when its arrays are computed, and that
            works for other values too; None where they are computed when they exist.
        """

    @abstractmethod
    def prepare(self) -> None:
        """Make ready what `drain` needs, without waiting; it may compile a tiny program."""

    @abstractmethod
    def drain(self) -> None:
        """Return when nothing that was started is still running, on any initialised device."""

    def runs_ahead(self) -> bool:
        """Whether its operations may come back before they are computed, as it is set now."""
        return True

    def is_running(self) -> bool | None:
        """Whether something that was started is still running, told without a clock.

        Returns:
            The answer; None where it takes a clock to tell. What `prepare` makes ready is used.
        """
        return None

    @abstractmethod
    def profile(self, run: Callable[[], object]) -> Profile | None:
        """Run something under the framework's profiler, and tell what ran on devices.

        A profiler that the user has on is left alone, and so are its results.

        Args:
            run: makes calls and waits for them; what it raises is raised, with the profiler off.

        Returns:
            What ran on devices, the CPU among them; or why that is not told, in which case
            nothing may have been run. None where the framework has no profiler.
        """

    @abstractmethod
    def watch(self, functions: Sequence[object]) -> Watch:
        """Watch compilations; ``functions`` are those in play that it compiles."""

    @abstractmethod
    def fresh(
        self, named: Mapping[str, object], unnamed: Sequence[object]
    ) -> AbstractContextManager[Fresh] | None:
        """Have one call trace and compile all that it uses, and leave the user's caches alone.

        Args:
            named: functions that it compiles, by the names that the code reads.
            unnamed: other such functions that the code can reach.

        Returns:
            A context for that call; None where nothing can be compiled.
        """

    @abstractmethod
    def original(self, function: object) -> object | None:
        """The function that was given to be compiled; None where it is not known."""

    @abstractmethod
    def random_state(self, values: Sequence[object], *, later: bool = False) -> Restore | None:
        """Remember the global random state, and that of generators among ``values``.

        Args:
            values: what the names in the code stand for.
            later: the calls that follow are repetitions; they may be given other numbers.

        Returns:
            A function that puts it back; None where there is no such state.
        """

    @abstractmethod
    def alive(self, array: Any) -> bool:
        """False if the array's memory was given away (donated) or deleted."""

    def host(self, array: Any) -> Any | None:  # noqa: ARG002
        """The array's numbers as a NumPy array, moved to the host where they are elsewhere.

        Args:
            array: one that is alive.

        Returns:
            A NumPy array of a dtype that NumPy computes with; None where there is none.
        """
        return None

    def threads(self) -> int | None:
        """How many threads one operation may use on the CPU; None where it is not told."""
        return None

    def aligned(self, threads: int) -> AbstractContextManager[object]:  # noqa: ARG002
        """Settings that other frameworks have too, made equal for a while.

        Args:
            threads: for one operation on the CPU.

        Returns:
            A context in which operations use so many threads, and matrix products all bits of
            their numbers, as far as this can be set in a running process.
        """
        return nullcontext()

    def conversion(self, array: Any) -> tuple[float, float] | None:  # noqa: ARG002
        """What an array takes to become a NumPy array, where it keeps that for the next time.

        Args:
            array: like which new ones are made and converted.

        Returns:
            Seconds for a new array, and for one that was converted before; None where nothing is
            kept or there is no room for more.
        """
        return None

    @abstractmethod
    def cautions(self, seen: Seen) -> Iterable[Note]:
        """What of its settings changes what a figure of this code means, as Notes.

        Asked once, after the last call and only where the framework is in play; a tiny program
        may be run where a setting makes it likely that there is something to say.
        """

    @abstractmethod
    def gives_away(self, function: object) -> bool:
        """Whether calls of ``function`` may delete their arguments (donation)."""

    @abstractmethod
    def copy(self, value: Any) -> Any | None:
        """A copy of a container with fresh arrays; None where it cannot be made, or not safely."""

    def revived(self, value: Any, copies: Mapping[int, Any]) -> Any:  # noqa: ARG002
        """An immutable value with copies in place of the arrays in it that were given away.

        Args:
            value: anything.
            copies: by identity of the array.
        """
        return value

    @abstractmethod
    def changes(self, array: Any) -> int | None:
        """A count that rises when the array is changed in place; None where it is not told."""

    def changes_in_place(self, method: str) -> bool:  # noqa: ARG002
        """Whether a method of this name changes the array that it is called on."""
        return False

    def states(self, value: object, room: Room) -> Sequence[State] | None:  # noqa: ARG002
        """What calls can change in place of a value of its own, as it is now.

        Args:
            value: anything; no code of it is run.
            room: for copies of numbers.

        Returns:
            An empty sequence for what never changes; None for what is none of its own, or is a
            plain object with attributes.
        """
        return () if self.immutable and self.owns(type(value)) else None

    @abstractmethod
    def work(
        self, function: object, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> Work | None:
        """What a call of a function that it compiles computes.

        Args:
            function: was called with arguments like these before, so that asking compiles nothing.
            args: positional arguments.
            kwargs: keyword arguments.

        Returns:
            The work; None where it is not told.
        """

    def graph(self, call: Call, options: GraphOptions) -> Graph | None:  # noqa: ARG002
        """The program that a call is; nothing is computed, and no cache of the user's changes.

        Args:
            call: what is called, with what.
            options: which form of it, and how much.

        Returns:
            The graph; None where the framework makes none.

        Raises:
            UntraceableError: the call cannot be traced.
        """
        return None

    def load(self, call: Call) -> Load | None:
        """What a call that was made before has to do; nothing is computed.

        Args:
            call: it is not made.

        Returns:
            The load; None where it is not known.

        Raises:
            Exception: whatever its tracing raises.
        """
        found = self.graph(call, GraphOptions())
        live = None if found is None else found.live
        return None if found is None or live is None else live.load(found.bytes)

    #: Whether it has devices of its own, beside the host's memory.
    has_devices: bool = False

    def home(self) -> Home:
        """Its devices and their memory; a framework that has not started is not started."""
        return Home(self.name, self.version(), started=self.started())

    def start(self) -> bool:
        """Have it look for devices; whether it has any now."""
        return self.started()

    def set_memory(self, *, prealloc: bool, fraction: float | None) -> Iterable[MemorySetting]:  # noqa: ARG002
        """Set what it may take of each GPU's memory, as far as that can be done now.

        Args:
            prealloc: False has it take memory as it needs it, not all at its start.
            fraction: that it may take; None leaves that as it is.

        Returns:
            What was set, or why it was not; nothing for a framework that knows no GPUs.
        """
        return ()

    def probe(self, device: str) -> Probe | None:  # noqa: ARG002
        """The work with which the ceilings of a device are measured.

        Args:
            device: its name, as `home` tells it; "cpu" where there are no devices.

        Returns:
            What makes the work; None where it has none, or the device is not for computing.
        """
        return None

    def located(self, name: str, array: Any) -> Located:
        """Where one array lives, and in which way; must not fail for a deleted one."""
        place = self.placement(array)
        return Located(name, self.name, place.dtype, place.shape or (), place.nbytes, place.devices)

    def weight(self, array: Any) -> Weight | None:
        """What one of many arrays takes, told fast; None where it holds no numbers."""
        told = self.located("", array)
        return Weight(told.devices, 0 if told.deleted else told.nbytes, told.sharding)

    def held(self) -> Sequence[Any]:
        """Its arrays that are in memory, as far as it knows them."""
        return ()

    def holder(self, array: Any) -> object:
        """The array under which `held` names its memory: itself, unless it wraps another one."""
        return array

    def made_at(self, array: Any) -> Sequence[tuple[str, str, int]]:  # noqa: ARG002
        """The calls that made it, innermost first: file, function, line; empty if not known."""
        return ()

    def described(self, value: object) -> str:  # noqa: ARG002
        """What a value of its own is that holds no array, such as a mesh; empty for others."""
        return ""

    def named_parts(self, value: object) -> Iterable[tuple[str, object]] | None:  # noqa: ARG002
        """The parts of a container of its own, such as a module's parameters, by name."""
        return None

    def is_tracing(self, args: object) -> bool:  # noqa: ARG002
        """Whether a function that got these arguments runs to be traced."""
        return False

    def learn_signatures(self, learn: Callable[[Miss], None]) -> bool:  # noqa: ARG002
        """Tell from now on with which signature each function is traced; asked once.

        Args:
            learn: gets each call that was traced or compiled, and no other one.

        Returns:
            Whether it does.
        """
        return False

    def call_watch(self) -> CallWatch | None:
        """What tells of single calls of compiled functions; None where nothing is compiled."""
        return None

    def reads_code(self) -> bool:
        """Whether it looks at the code of functions to compile them: that is then left as it is."""
        watch = self.call_watch()
        return watch is not None and watch.reads_code

    def crossing_watch(self, tell: Tell) -> CrossingWatch | None:  # noqa: ARG002
        """What tells of copies between host and devices; None where there are none.

        Args:
            tell: gets each copy.
        """
        return None

    def explain(self, error: BaseException) -> Diagnosis | None:  # noqa: ARG002
        """Why code that failed would not trace; None where that is not known.

        Args:
            error: what was raised, with its traceback; the code is not run again.
        """
        return None
