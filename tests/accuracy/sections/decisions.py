"""How often it is decided wrongly whether code leaves work running, alone and on a busy machine."""

from collections.abc import Iterator, Sequence
from itertools import islice

from ipyjaxbench import stats
from ipyjaxbench.frameworks import loaded
from ipyjaxbench.host.clock import Clock
from ipyjaxbench.timing.runner import Calls
from ipyjaxbench.timing.synchronize import Drain
from ipyjaxbench.timing.waiting import Waiting
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.accuracy.case import Names
from tests.accuracy.load import busy
from tests.accuracy.section import Column, Row, Section

_LOADS = (0, 16)
_CALLS = (3, 12)  # with -n and -r, and in a warm-up
_EACH = 334  # decisions in a round, so that three rounds are a thousand
_MOST, _LEAST = 1e-3, 0.9
_SETUP = """
import jax
x = jax.random.normal(jax.random.key(0), (160, 160)) / 160**0.5
loop = jax.jit(lambda x: jax.lax.fori_loop(0, TURNS, lambda _, a: jax.numpy.tanh(a @ x), x))
"""
_TURNS = {"short": 2, "long": 10}  # about 0.3 and 1.5 ms
_CODE = {
    "waited for": "loop(x).block_until_ready()",
    "shown": "loop(x)",
    "dropped": "loop(x); None",
}


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each kind of code, number of calls and load."""
    for load in _LOADS:
        yield from of_load(rounds, load)


def of_load(rounds: int, load: int) -> Iterator[Row]:
    """A row for each kind of code and number of calls, beside so many busy programs."""
    for size, turns in _TURNS.items():
        names: Names = {"__name__": "case"}
        exec(_SETUP.replace("TURNS", str(turns)), names)
        work = 0.0
        for kind, code in _CODE.items():
            for number in _CALLS:
                with busy(load):
                    answers = list(islice(_decisions(code, names, number), _EACH * rounds))
                if kind == "waited for":
                    work = stats.floor([taken for _, taken in answers])
                wrong = sum(_is_wrong(*answer, kind, work) for answer in answers)
                yield {"group": "jax", "name": f"{size}, {kind}", "load": load, "calls": number,
                       "wrong": wrong, "decisions": len(answers)}  # fmt: skip


def _is_wrong(said: bool, taken: float, kind: str, work: float) -> bool:
    """Where the call itself took as long as the work, none was left."""
    if kind != "dropped":
        return said
    return not said and taken < _LEAST * work


def _decisions(code: str, names: Names, number: int) -> Iterator[tuple[bool, float]]:
    """Whether code is taken to leave work running, and nanoseconds of a call, again and again."""
    clock, (frameworks, _) = Clock.elapsed(), loaded()
    playing = [framework for framework in frameworks if framework.name == "jax"]
    calls = Calls(Snippet(Source.plain(code), names), None, clock, Drain(playing, clock))
    calls.arrange(Waiting.for_results(calls.first().value, {}, playing), kept={})
    while True:
        probes = [calls.time_one() for _ in range(number)]
        seen = [(probe.waited, probe.left) for probe in probes]
        said = calls.hidden.decide(seen) > 0
        yield said, stats.median([probe.waited for probe in probes])


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    for load in _LOADS:
        for way, is_way in (("missed", True), ("imagined", False)):
            mine = [row for row in rows if row["load"] == load]
            mine = [row for row in mine if row["name"].endswith("dropped") is is_way]
            wrong, made = (sum(row[part] for row in mine) for part in ("wrong", "decisions"))
            word = "reached" if wrong <= _MOST * made else "not reached"
            yield f"Load {load}: work was {way} in {wrong} of {made}; 1 in 1,000 wanted: {word}."


DECISIONS = Section(
    name="decisions",
    title="How often is it decided wrongly whether code leaves work running?",
    method=(
        "JAX programs of about 0.3 and 1.5 ms, whose results are waited for by the code, shown, or"
        " dropped. The decision of `%fwtime` is made again and again in one process, from 3 calls"
        " as with `-n` and `-r` and from 12 as in a warm-up, alone and beside 16 programs that keep"
        " a CPU busy. Only the dropped results leave work running; it was missed where that was not"
        " said and the middle of the calls took less than 0.9 of what they take with waiting."
    ),
    columns=(
        Column("load", 4, "busy programs beside", "{load}"),
        Column("calls", 5, "that decide", "{calls}"),
        Column("wrong", 5, "decisions that are wrong", "{wrong:,}"),
        Column("of", 6, "decisions", "{decisions:,}"),
    ),
    summary=_summary,
    measure=measure,
    groups=("jax",),
)  # fmt: skip
