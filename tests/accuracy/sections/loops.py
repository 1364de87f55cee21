"""Whether the parts of a loop's steps are those that stop watches in the loop read."""

import statistics
import time
from collections.abc import Iterator, Sequence
from typing import Any

from ipyjaxbench.steps import time_loop
from ipyjaxbench.usercode import Source
from tests.accuracy.section import Column, Row, Section, label

_OFF = 0.05  # of a part's share
_STEPS = 24  # fewer than JAX queues on the CPU: the stop watches see no wait for room
_CHEAP_STEPS = 100_000
_MOST_ADDED = 10.0  # microseconds: 1 % of a step of 1 ms
_CELL = """
for x in batches({data}):
    {host}
    start = clock()
    state, loss = step(state, x)
    dispatch.append(clock() - start)
    {read}
ends.append(clock())
"""
_OVERHEAD = """
start = clock()
for i in range({steps}):
    a = i + 1
    b = a * 2
    if a == -1:
        b = 0
    c = b - a
    work(c)
spent = clock() - start
"""
#: Milliseconds in the loader, on the host, and on the device, whether the loss is read in each
#: step, and what the verdict is to be where the device works beside Python.
_CASES = {
    "slow loader": (6, 1, 2, True, "DATA-BOUND"),
    "slow Python": (1, 6, 2, True, "HOST-BOUND"),
    "read in each step": (2, 2, 6, True, "SYNC-BOUND"),
    "slow device": (0, 0, 30, True, "DEVICE-BOUND"),
    "not read": (2, 2, 12, False, "DEVICE-BOUND"),
    "equal parts": (3, 3, 3, True, "SYNC-BOUND"),
}
#: Where the device is the call: the verdict by the largest share, and by how much it has to be.
_IN_CALL = {"data": "DATA-BOUND", "host": "HOST-BOUND", "work": "CALL-BOUND"}
_PLANNED = {"DATA-BOUND": "data", "HOST-BOUND": "host"}  # the largest part; else it is work
_CLEAR = 0.15


def _names(group: str, milliseconds: float) -> dict[str, Any]:
    """A step that works for so long, whatever is needed to run it, and to wait for it."""
    make = {"jax": _jax, "torch": _torch, "tensorflow": _tensorflow}[group]
    step, state, sync = make(1)
    turns = 200
    for _ in range(3):
        step, state, sync = make(turns)
        sync(step(state, 1.0)[1])
        took = []
        for _ in range(5):
            start = time.perf_counter()
            sync(step(state, 1.0)[1])
            took.append(time.perf_counter() - start)
        turns = max(1, round(turns * milliseconds * 1e-3 / statistics.median(took)))

    return {"step": step, "state": state}


class StopWatches:
    """What sleeps in the loader and on the host read themselves, step by step."""

    def __init__(self) -> None:
        self.asked: list[float] = []  # when each batch was asked for
        self.data: list[float] = []
        self.host: list[float] = []

    def batches(self, pause: float) -> Iterator[float]:
        """Batches that take so many milliseconds."""
        for _ in range(_STEPS):
            self.asked.append(time.perf_counter())
            time.sleep(pause * 1e-3)
            self.data.append(time.perf_counter() - self.asked[-1])
            yield 1.0
        self.asked.append(time.perf_counter())

    def pause(self, milliseconds: float) -> None:
        """Python that takes so many milliseconds."""
        start = time.perf_counter()
        time.sleep(milliseconds * 1e-3)
        self.host.append(time.perf_counter() - start)

    def shares(self, end: float, dispatch: list[float]) -> dict[str, float]:
        """Shares of the steps between the first and the last; what is no sleep is work.

        Where the device works beside Python its call is the host's.
        """
        data, host = (sum(each[1:-1]) for each in (self.data, self.host))
        host += sum(dispatch[1:-1])
        left = (end - self.asked[-1]) * (_STEPS - 2) / _STEPS
        total = self.asked[-2] - self.asked[1] + left
        return {"data": data / total, "host": host / total, "work": (total - data - host) / total}


def _jax(turns: int) -> tuple[Any, Any, Any]:
    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(w: Any, x: Any) -> Any:
        y = jax.lax.fori_loop(0, turns, lambda _, y: jnp.tanh(y @ w * x), w)
        return w, y.sum()

    return step, jnp.full((64, 64), 0.01), jax.block_until_ready


def _torch(turns: int) -> tuple[Any, Any, Any]:
    import torch

    def step(w: Any, x: Any) -> Any:
        y = w
        for _ in range(turns):
            y = torch.tanh(y @ w * x)
        return w, y.sum()

    torch.set_num_threads(1)
    return step, torch.full((64, 64), 0.01), float


def _tensorflow(turns: int) -> tuple[Any, Any, Any]:
    import tensorflow as tf

    @tf.function
    def step(w: Any, x: Any) -> Any:
        y = w
        for _ in tf.range(turns):
            y = tf.tanh(y @ w * x)
        return w, tf.reduce_sum(y)

    return step, tf.fill((64, 64), 0.01), float


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each case, and one for what the marks cost."""
    runs_beside = group == "jax"
    for name, (data, host, device, reads, verdict) in _CASES.items():
        names = _names(group, device)
        code = _CELL.format(
            data=data, host=f"pause({host})", read="float(loss)" if reads else "pass"
        )
        offs, verdicts = [], []
        for _ in range(rounds):
            watches, ends, dispatch = StopWatches(), [], []
            names |= {"batches": watches.batches, "pause": watches.pause, "ends": ends,
                      "dispatch": dispatch, "clock": time.perf_counter}  # fmt: skip
            found, error = time_loop(Source.plain(code), names)
            assert error is None, error
            truth, shares = watches.shares(ends[0], dispatch * runs_beside), found.shares
            ours = {
                "data": shares["data"],
                "host": shares["host"] + shares["rest"],
                "work": shares["device"] + shares["call"],
            }
            offs.append(max(abs(ours[part] - truth[part]) for part in truth))
            wanted = _largest(truth)
            if runs_beside:  # a busy machine may have made another part the largest
                as_planned = _IN_CALL.get(_PLANNED.get(verdict, "work")) == wanted
                wanted = verdict if as_planned or name == "equal parts" else ""
            if wanted:
                verdicts.append((found.verdict, wanted))
        right = sum(each == wanted for each, wanted in verdicts)
        yield {"group": group, "name": name, "off": statistics.median(offs),
               "worst": max(offs), "right": right, "asked": len(verdicts), "added": None,
               "wanted": wanted or "none is clear"}  # fmt: skip
    yield {"group": group, "name": "marks of a step", "added": _added(rounds), "off": None}


def _largest(truth: dict[str, float]) -> str:
    """The verdict that the stop watches give; none where no share is clearly the largest."""
    second, first = sorted(truth.values())[-2:]
    clear = first - second >= _CLEAR
    return _IN_CALL[max(truth, key=lambda part: truth[part])] if clear else ""


def _added(rounds: int) -> float:
    """Microseconds that the marks of a loop of six statements cost a step."""
    names = {"clock": time.thread_time, "work": abs}
    code = _OVERHEAD.format(steps=_CHEAP_STEPS)
    added = []
    for _ in range(rounds):
        exec(code, names)
        bare = names["spent"]
        time_loop(Source.plain(code), names)
        added.append((names["spent"] - bare) / _CHEAP_STEPS * 1e6)
    return statistics.median(added)


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    parts = [row for row in rows if row["off"] is not None]
    if parts:
        worst = max(parts, key=lambda row: row["off"])
        verdict = "reached" if worst["off"] <= _OFF else "NOT REACHED"
        yield (
            f"Furthest off is a share in {label(worst)}, by {worst['off']:.1%} of a step; at most"
            f" {_OFF:.0%} wanted: {verdict}."
        )
        right, asked = (sum(row[each] for row in parts) for each in ("right", "asked"))
        yield f"{right} of {asked} verdicts are what the sleeps make it."
    marks = [row["added"] for row in rows if row["added"] is not None]
    if marks:
        verdict = "reached" if max(marks) <= _MOST_ADDED else "NOT REACHED"
        yield (
            f"Marks add {max(marks):.2f} µs to a step of six statements; at most"
            f" {_MOST_ADDED:g} µs, 1 % of 1 ms, wanted: {verdict}."
        )


LOOPS = Section(
    name="loops",
    title="Does %%fwtime --loop find where the time of steps goes?",
    method=(
        f"Loops of {_STEPS} steps with sleeps in the loader and on the host, which read stop"
        " watches themselves, and work for the device, which is what is left of the time. And what"
        " marks cost in a loop that does nothing else, in CPU time."
    ),
    columns=(
        Column("off", 7, "the largest difference of a share, of a step: the median of the rounds",
               lambda r: "" if r["off"] is None else f"{r['off']:.1%}"),
        Column("worst", 7, "that of the worst round",
               lambda r: "" if r["off"] is None else f"{r['worst']:.1%}"),
        Column("verdict", 16, "the verdict that is right, and how often it was found",
               lambda r: "" if r["off"] is None else f"{r['wanted']} {r['right']}/{r['asked']}"),
        Column("added", 8, "microseconds that marks add to a step",
               lambda r: "" if r["added"] is None else f"{r['added']:.2f} µs"),
    ),
    summary=_summary,
    measure=measure,
    groups=("jax", "torch", "tensorflow"),
)  # fmt: skip
