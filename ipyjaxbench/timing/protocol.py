"""What a framework offers to the timer beyond waiting for its arrays."""

from collections.abc import Callable, Iterable

from ipyjaxbench.frameworks import Capability
from ipyjaxbench.reports import Note
from ipyjaxbench.timing.compile_passes import CompilePasses
from ipyjaxbench.timing.device_time import Profile
from ipyjaxbench.timing.validity.code_facts import CodeFacts


class Profiler(Capability):
    """The framework's own profiler."""

    def profile(
        self,
        run: Callable[[], object],  # noqa: ARG002
        *,
        sources: bool = False,  # noqa: ARG002
    ) -> Profile | None:
        """Run something under the profiler, and report what ran on devices.

        A profiler that the user has on is left alone, and so are its results.

        Args:
            run: makes calls and waits for them; what it raises is raised, with the profiler off.
            sources: whether to look up the user's line of each operation, where that is known.

        Returns:
            What ran on devices, the CPU among them; or the reason why that is not known, in which
            case nothing may have been run. None where the framework has no profiler.
        """
        return None

    def profile_compilation(self, run: Callable[[], object]) -> CompilePasses | None:  # noqa: ARG002
        """Run a call that compiles, and report what its compiler spent time on.

        Args:
            run: makes the call and waits for it; what it raises is raised.

        Returns:
            The passes; or the reason why they are not known, in which case nothing may have been
            run. None where the framework does not compile.
        """
        return None


class Caveats(Capability):
    """The framework's settings, as far as they change what a figure means."""

    def caveats(self, code: CodeFacts) -> Iterable[Note]:  # noqa: ARG002
        """Note what of its settings changes what a figure of this code means.

        Asked once, after the last call and only where the framework is in play; a tiny program
        may be run where a setting makes it likely that there is something to say.
        """
        return ()
