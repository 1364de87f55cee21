"""What the calls showed, as Notes: after the first one, and after the last."""

from collections.abc import Iterator, Sequence
from textwrap import shorten
from types import BuiltinFunctionType, FunctionType, MethodType

from ipyjaxbench import notes, stats, surroundings
from ipyjaxbench.calls import Calls
from ipyjaxbench.frameworks import Framework, Seen, is_the_users, package_of
from ipyjaxbench.notes import Note
from ipyjaxbench.placement import Placement
from ipyjaxbench.sampling import Samples
from ipyjaxbench.scene import Scene
from ipyjaxbench.snippet import Snippet
from ipyjaxbench.transfers import copies_made

_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType)
_TOLD_RATIO = 1.5


def after_first(
    snippet: Snippet, scene: Scene, outputs: Sequence[Placement], lost: Sequence[str]
) -> Iterator[Note]:
    """What the code and its first call show; ``lost`` are the arguments that it gave away."""
    name = snippet.bare_name()
    named = scene.values.get(name) if name else None
    if name and (issubclass(type(named), _FUNCTIONS) or any(named is f for f in scene.compiled)):
        yield notes.not_called(name)
    if lost:
        yield notes.fresh_copies(lost)
    yield from copies_made(snippet.statements, scene.inputs, outputs)


def cautions(
    snippet: Snippet, scene: Scene, outputs: Sequence[Placement], playing: Sequence[Framework]
) -> Iterator[Note]:
    """What of the settings and surroundings changes what the figure means."""
    yield from surroundings.watching()
    yield from surroundings.environment((*scene.inputs, *outputs))
    seen = Seen(
        inputs=scene.inputs,
        outputs=tuple(outputs),
        statements=tuple(snippet.statements),
        packages={name: _package(value) for name, value in scene.values.items()},
        functions=tuple(scene.functions),
        written=tuple(f for f in scene.functions if type(f) is FunctionType and is_the_users(f)),
        compiled=tuple(scene.compiled),
    )
    for framework in playing:
        yield from framework.cautions(seen)


def _package(value: object) -> str:
    return package_of(value) or type(value).__module__.partition(".")[0]


def ended_by(error: Exception, calls_made: int) -> Note:
    """A call after the first raised."""
    shown = one_line(error)
    once = calls_made == 2
    return notes.runs_once(shown) if once else notes.stopped_by_error(calls_made, shown)


def one_line(error: Exception) -> str:
    """An error of the user's code by its class and the first line that it shows."""
    try:
        first, *_ = str(error).splitlines() or [""]
    except Exception:  # noqa: BLE001  the user's class of errors may fail to show itself
        first = ""
    shown = f"{type(error).__name__}: {first}".rstrip(".: ")
    return shorten(shown, 140, placeholder=" …")


def of_state(advanced: Sequence[str], calls_made: int, writes: int) -> Iterator[Note]:
    """What repeated calls changed that one would not have, and what they printed."""
    if advanced and calls_made > 1:
        yield notes.state_advanced(list(dict.fromkeys(advanced)), calls_made)
    if writes:
        yield notes.output_hidden(writes)


def of_samples(calls: Calls, samples: Samples, spent: float, *, waited: bool) -> Iterator[Note]:
    """What may mislead in the samples; those with a rare compilation are left out.

    Args:
        calls: what made them.
        samples: what was timed.
        spent: seconds that compiling took in them.
        waited: whether calls were waited for.
    """
    late = sum(samples.compiled)
    if 2 * late > len(samples.compiled):
        yield notes.recompiles(late, len(samples.compiled), spent / max(calls.made - 1, 1))
        return
    if late:
        samples.leave_out_compiled()
        yield notes.compiled_late(late)
    probes = samples.settled_probes()
    if waited and probes and samples.batches:
        returned = stats.median([probe.returned for probe in probes])
        median = stats.median([taken / number for number, taken in samples.batches])
        if median > _TOLD_RATIO * returned > 0:
            yield notes.unsynchronised(returned * 1e-9, median / returned)
