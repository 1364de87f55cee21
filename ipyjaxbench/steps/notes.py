"""What to know of the steps of a loop before believing their numbers."""

from collections.abc import Iterator, Sequence
from functools import partial

from ipyjaxbench import units
from ipyjaxbench.reports import CHANGES_MEANING, Note
from ipyjaxbench.steps.loop_times import LoopTimes

misleading = partial(Note, mark=CHANGES_MEANING)

_WORTH = 0.05  # of a step


def notes_on(
    times: LoopTimes, raised: BaseException | None, wait_error: str, fit_backend: str
) -> Iterator[Note]:
    """Yield what is to be known of a loop's times."""
    if isinstance(raised, KeyboardInterrupt):
        yield loop_stopped(times.count, is_open=times.was_stopped)
    elif raised is not None:
        yield loop_failed(times.error, times.count, is_open=times.was_stopped)
    elif not times.count:
        yield no_steps(times.line)
    if times.shares.get("call", 0.0) > _WORTH:
        lines = [each for each in times.lines if each.part == "call"]
        yield computes_in_call(sorted({each.framework for each in lines}),
                               sorted({each.line for each in lines}))  # fmt: skip
    if times.steady and times.summary.is_behind:
        yield device_behind(times.backlog)
    if not times.frameworks and times.count:
        yield no_framework_call()
    if fit_backend:
        yield fit_steps(fit_backend)
    if wait_error:
        yield device_failed(wait_error)


def loop_stopped(count: int, *, is_open: bool = False) -> Note:
    """The user ended the loop."""
    return Note("loop-stopped", f"Interrupted {_until(count, is_open=is_open)}.")


def loop_failed(error: str, count: int, *, is_open: bool = False) -> Note:
    """The cell raised."""
    return misleading("loop-failed", f"The cell raised {error} {_until(count, is_open=is_open)}.")


def _until(count: int, *, is_open: bool) -> str:
    """Say how far it had come, and whether devices may have been behind."""
    if not count:
        return "before a step came to its end"
    left = ", without what devices had left to do" if is_open else ""
    return f"after {units.count(count, 'whole step')}: these are measured{left}"


def no_steps(line: int) -> Note:
    """There was nothing to go through, or `fit` is not Keras's."""
    return Note(
        "no-steps",
        f"No step came to its end: the loop in line {line} had nothing to go through, did not run,"
        " or is a fit() that is not of a Keras model.",
    )


def computes_in_call(frameworks: Sequence[str], lines: Sequence[int]) -> Note:
    """Host and device are one there."""
    named = f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}"
    return Note(
        "computes-in-call",
        f"{' and '.join(frameworks)} computes on the CPU, inside the calls in {named}: which part"
        " of their time Python takes and which the computation is not known.",
    )


def device_behind(backlog: float) -> Note:
    """The device had work all the time."""
    return Note(
        "device-behind",
        f"After the last step the device still had {units.duration(backlog)} of work: it was never"
        " idle, so less time for data or Python would not make the loop faster.",
    )


def fit_steps(backend: str) -> Note:
    """What callbacks do not see."""
    if backend == "torch":
        unseen = "the progress bar counts as data"
    else:
        unseen = f"with {backend} it draws batches inside of a step, so that waiting for them is in"
        unseen += " the step's own time, and `rest` is the time between steps"
    return Note(
        "fit-steps",
        f"fit() was timed by its callbacks: {unseen}.",
        "write the loop to know more:  for x, y in data: model.train_on_batch(x, y)",
    )


def device_failed(error: str) -> Note:
    """A device could not be waited for."""
    return misleading("device-failed", error)


def no_framework_call() -> Note:
    """Nothing in the loop gives work to a framework."""
    return Note(
        "no-framework-call",
        "No statement of the loop calls JAX, PyTorch or TensorFlow: all of its body counts as"
        " host.",
    )
