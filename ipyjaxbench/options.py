"""The option table of each magic, and the splitter that takes options off a line.

What follows the options is code and is kept byte for byte, so that ``-x + 1`` and ``"a  b"``
mean what they say. `argparse` converts values and writes the help text.
"""

import argparse
import difflib
import keyword
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NoReturn

from ipyjaxbench.errors import OptionError

_NUMBER = re.compile(r"\.?\d")
_WORD = re.compile(r'\s*("[^"]*"|\S+)')
#: Forms of a program, in the order in which a compiler makes them.
STAGES = ("jaxpr", "stablehlo", "hlo", "optimized")
PLATFORMS = ("cpu", "cuda", "rocm", "tpu")
_EACH_ARM = 2.2  # seconds
_LONGEST_LABEL = 24  # so that a table of arms fits into 80 columns
#: Aim -> relative half width of the interval, and seconds to spend on reaching it.
_AIMS = {"quick": (0.05, 0.5), "usual": (0.02, 2.0), "precise": (0.005, 10.0)}


@dataclass(frozen=True, kw_only=True)
class TimeOptions:
    """How one statement is to be timed and shown.

    Attributes:
        number: calls per sample (``-n``); None lets the clock's resolution decide.
        repeat: number of samples (``-r``); None stops when the figure is steady.
        aim: "quick" (``--quick``), "usual" or "precise" (``--precise``).
        budget: seconds to spend after the first call (``-b``); None leaves it to the aim.
        precision: significant digits shown (``-p``).
        quiet: show nothing (``-q``).
        returned: return the result object (``-o``).
        variable: name that gets the result object (``-v``).
        name: under which the result is kept for ``%fwcompare`` (``--name``).
        clock: "elapsed", "calendar" (``-t``) or "cpu" (``-c``).
        fresh: make one more call, cold (``--fresh``).
        device: make a profiled pass after the samples (``--device``).
        ops: list the operations that it saw (``--ops``, which implies ``--device``).
    """

    number: int | None = None
    repeat: int | None = None
    aim: str = "usual"
    budget: float | None = None
    precision: int = 3
    quiet: bool = False
    returned: bool = False
    variable: str | None = None
    name: str | None = None
    clock: Literal["elapsed", "calendar", "cpu"] = "elapsed"
    fresh: bool = False
    device: bool = False
    ops: bool = False

    def __post_init__(self) -> None:
        """Refuse what breaks a rule, from Python as from a magic."""
        checks = (("-n", self.number, _whole), ("-r", self.repeat, _whole))
        if self.budget is not None and (self.number or self.repeat):
            raise OptionError(
                f"-b {self.budget:g} goes without -n and -r: they say how many calls are made"
            )
        if self.aim not in _AIMS:
            raise OptionError(f"aim {self.aim!r}: it is one of {', '.join(_AIMS)}")
        for flag, value, rule in (*checks, ("-b", self.budget, _seconds)):
            if value is not None:
                _checked(flag, str(value), rule)
        _checked("-p", str(self.precision), _digits)
        if self.ops:
            object.__setattr__(self, "device", True)

    @property
    def target(self) -> float:
        """Relative half width of the interval at which the figure is steady."""
        return _AIMS[self.aim][0]

    @property
    def seconds(self) -> float:
        """What to spend after the first call."""
        return _AIMS[self.aim][1] if self.budget is None else self.budget


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """How several statements are to be compared and shown.

    Attributes:
        baseline: label of the arm that the others are compared with; None takes the first.
        budget: seconds to spend after the first calls; None takes 2.2 for each arm.
        sweep: names with the values that they are to take, as typed.
        align: give all frameworks all CPUs and full precision, for as long as it takes.
        target: relative half width of the widest ratio's interval at which to stop.
        precision: significant digits shown.
        quiet: show nothing.
        returned: return the result object.
        variable: name that gets the result object.
    """

    baseline: str | None = None
    sweep: tuple[tuple[str, str], ...] = ()
    budget: float | None = None
    align: bool = False
    target: float = 0.02
    precision: int = 3
    quiet: bool = False
    returned: bool = False
    variable: str | None = None

    def __post_init__(self) -> None:
        """Refuse what breaks a rule, from Python as from a magic."""
        if self.budget is not None:
            _checked("-b", str(self.budget), _seconds)

    def check(self, labels: Sequence[str]) -> None:
        """Refuse a baseline that is no arm, the same arm twice, and fewer than two arms."""
        if len(labels) < 2:
            raise OptionError("a comparison needs two arms")
        twice = [label for label in labels if labels.count(label) > 1]
        if twice:
            raise OptionError(f"{twice[0]!r} stands there twice: a comparison needs two arms")
        long = next((label for label in labels if len(label) > _LONGEST_LABEL), None)
        if long is not None:
            raise OptionError(f"{long!r}: a label has {_LONGEST_LABEL} characters at most")
        if self.baseline is not None and self.baseline not in labels:
            raise OptionError(f"--baseline {self.baseline}: the arms are {', '.join(labels)}")

    def seconds_for(self, arms: int) -> float:
        """What to spend after the first calls."""
        return _EACH_ARM * arms if self.budget is None else self.budget


@dataclass(frozen=True, kw_only=True)
class GraphOptions:
    """Which form of a program is to be shown, and how much of it.

    Attributes:
        stage: "jaxpr", "stablehlo", "hlo" or "optimized" (``--stage``).
        platform: for which it is lowered (``--platform``); None takes the default device's.
        depth: levels of inner programs that a long text shows (``--depth``); None shows all.
        find: show only lines with this text (``--find``).
        tb: show the whole traceback where tracing fails (``--tb``).
        quiet: show nothing.
        returned: return the result object.
        variable: name that gets the result object.
    """

    stage: str = "jaxpr"
    platform: str | None = None
    depth: int | None = 1
    find: str | None = None
    tb: bool = False
    quiet: bool = False
    returned: bool = False
    variable: str | None = None

    def __post_init__(self) -> None:
        """Refuse what breaks a rule, from Python as from a magic."""
        if self.stage not in STAGES:
            raise OptionError(f"--stage {self.stage}: it is one of {', '.join(STAGES)}")
        if self.platform is not None and self.platform not in PLATFORMS:
            raise OptionError(f"--platform {self.platform}: it is one of {', '.join(PLATFORMS)}")
        if self.platform is not None and self.stage not in ("stablehlo", "hlo"):
            raise OptionError("--platform goes with --stage stablehlo or --stage hlo")


class _Parser(argparse.ArgumentParser):
    """argparse that raises instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        raise OptionError(message)


def _rule(low: float, high: float, kind: type, words: str) -> Callable[[str], float]:
    def convert(text: str) -> float:
        try:
            value: float = kind(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            raise ValueError(words)
        return value

    return convert


_MOST = 10**12
_whole = _rule(1, _MOST, int, "a whole number from 1 up; leave it out to have it chosen")
_seconds = _rule(0, _MOST, float, "a number of seconds from 0 up, as in -b 5")
_levels = _rule(0, _MOST, int, "a whole number from 0 up, as in --depth 2")
_digits = _rule(1, 15, int, "a number of digits from 1 to 15, as in -p 4")


def _name(text: str) -> str:
    if not text.isidentifier() or keyword.iskeyword(text):
        raise ValueError("the name of a variable, as in -v result")
    return text


def _swept(text: str) -> tuple[str, str]:
    name, equals, values = text.partition("=")
    if not equals or not values.strip() or not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError("a name and its values, as in --sweep n=100,300 or --sweep n=2**6..2**12")
    return name, values


def _checked(flag: str, text: str, rule: Callable[[str], object]) -> object:
    try:
        return rule(text)
    except ValueError as broken:
        raise OptionError(f"{flag} {text}: {flag} takes {broken}") from None


# Each row: flags, keyword of the options, rule for the value (or the constant for it), help.
_Rows = tuple[tuple[tuple[str, ...], str, object, str], ...]
_TIME_ROWS: _Rows = (
    (("-n", "--number"), "number", _whole, "calls per sample; with -r exactly N×R calls are made"),
    (("-r", "--repeat"), "repeat", _whole, "number of samples (7 when only -n is given)"),
    (("-b", "--budget"), "budget", _seconds, "seconds to spend after the first call (2)"),
    (("--quick",), "aim", "quick", "stop at ± 5 %%, after 0.5 s at most"),
    (("--precise",), "aim", "precise", "stop at ± 0.5 %%, after 10 s at most"),
    (("-p", "--precision"), "precision", _digits, "significant digits shown (3)"),
    (("-q", "--quiet"), "quiet", True, "show nothing"),
    (("-o", "--return"), "returned", True, "return the result object"),
    (("-v", "--variable"), "variable", _name, "save the result object under this name"),
    (("--name",), "name", str, "keep the result under this name, for %%fwcompare A B"),
    (("-t", "--calendar"), "clock", "calendar", "measure with time.time"),
    (("-c", "--cpu"), "clock", "cpu", "measure CPU time of the process instead of elapsed time"),
    (("--fresh",), "fresh", True, "one more call, compiled anew; nothing in your caches is lost"),
    (("--device",), "device", True, "profile a few more calls: how long devices are busy"),
    (("--ops",), "ops", True, "the same, and list the operations that take longest"),
)

_COMPARE_ROWS: _Rows = (
    (("--baseline",), "baseline", str, "label of the arm to compare with (the first)"),
    (("--sweep",), "sweep", _swept, "compare at each of these values: n=100,300 or n=2**6..2**12"),
    (("-b", "--budget"), "budget", _seconds, "seconds to spend after the first calls (2.2 an arm)"),
    (("--align",), "align", True, "all CPUs and full matrix precision for all arms"),
    (("-p", "--precision"), "precision", _digits, "significant digits shown (3)"),
    (("-q", "--quiet"), "quiet", True, "show nothing"),
    (("-o", "--return"), "returned", True, "return the result object"),
    (("-v", "--variable"), "variable", _name, "save the result object under this name"),
)

_GRAPH_ROWS: _Rows = (
    (("--stage",), "stage", str, "jaxpr, stablehlo, hlo, or optimized: what the compiler makes"),
    (("--platform",), "platform", str, "lower for cpu, cuda, rocm or tpu, with stablehlo or hlo"),
    (("--depth",), "depth", _levels, "levels of inner programs that a long text shows (1)"),
    (("--flat",), "depth", None, "show all of a long text"),
    (("--find",), "find", str, "show only lines with this text, as in --find dot_general"),
    (("--tb",), "tb", True, "show the whole traceback where tracing fails"),
    (("-q", "--quiet"), "quiet", True, "show nothing"),
    (("-o", "--return"), "returned", True, "return the result object"),
    (("-v", "--variable"), "variable", _name, "save the result object under this name"),
)


_TIME_EXAMPLES = """
examples:
  %fwtime jnp.dot(x, x.T)               waited for, on every device that it uses
  %fwtime -b 5 y = step(params, batch)  five seconds; y is there afterwards
  r = %fwtime -n 100 -r 7 f(x)          exactly 700 calls; r.median in seconds
  %%fwtime x = make()                   set-up, untimed; the cell is timed

from Python:
  ipyjaxbench.measure(f, x)
  ipyjaxbench.measure_code("f(x)", globals())
"""


_COMPARE_EXAMPLES = """
a cell:
  x = np.random.rand(n, n)              above the arms: runs once
  numpy: np.dot(x, x)                   an arm
  several lines:                        another one
      y = np.dot(x, x)
      y.sum()
  setup numpy: x = np.random.rand(n, n) runs before each sample of that arm

examples:
  %%fwcompare --baseline numpy
  %%fwcompare --sweep n=100,300,1000    the arms at each value of n
  %%fwcompare --sweep n=2**6..2**12     64, 128, 256, ... 4096
  %fwcompare before after               results that %fwtime --name kept

from Python:
  ipyjaxbench.compare({"eager": f, "jitted": jax.jit(f)}, x)
"""


_GRAPH_EXAMPLES = """
examples:
  %jaxpr f(x, y)                        the program that this call is; nothing is computed
  %jaxpr x @ y + 1                      an expression that is no call
  %jaxpr --stage optimized f(x)         what the compiler makes of it
  g = %jaxpr -q f(x)                    g.flops, g.static_argnames, g.jaxpr

from Python:
  ipyjaxbench.graph(f, x, y)
"""


def _build(prog: str, rows: _Rows, usage: str) -> _Parser:
    parser = _Parser(
        prog=prog,
        usage=usage,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
        allow_abbrev=False,
    )
    for flags, dest, rule, text in rows:
        if callable(rule):
            parser.add_argument(*flags, dest=dest, metavar=dest.upper(), help=text)
        else:
            parser.add_argument(*flags, dest=dest, action="store_const", const=rule, help=text)
    return parser


def split(line: str) -> tuple[TimeOptions, str]:
    """Take the leading options of ``%fwtime`` off ``line``.

    Args:
        line: all that follows the magic's name.

    Returns:
        The options, and the code with every byte as it was typed.

    Raises:
        OptionError: an option is unknown, lacks its value, or its value breaks a rule.

    Example:
        >>> options, code = split("-r5 -q -x + 1")
        >>> options.repeat, options.quiet, code
        (5, True, '-x + 1')
    """
    values, code = _taken_off(line, _TIME_ROWS, "%fwtime")
    return TimeOptions(**values), code  # type: ignore[arg-type]


def split_compare(line: str) -> tuple[CompareOptions, str]:
    """Take the options of ``%%fwcompare`` off ``line``, as `split` does.

    Example:
        >>> split_compare("--baseline numpy -b 5")[0].baseline
        'numpy'
    """
    values, rest = _taken_off(line, _COMPARE_ROWS, "%%fwcompare")
    return CompareOptions(**values), rest  # type: ignore[arg-type]


def split_graph(line: str) -> tuple[GraphOptions, str]:
    """Take the options of ``%jaxpr`` off ``line``, as `split` does.

    Example:
        >>> options, code = split_graph("--stage hlo f(x)")
        >>> options.stage, code
        ('hlo', 'f(x)')
    """
    values, code = _taken_off(line, _GRAPH_ROWS, "%jaxpr")
    return GraphOptions(**values), code  # type: ignore[arg-type]


def _taken_off(line: str, rows: _Rows, magic: str) -> tuple[dict[str, object], str]:
    arity = {flag: callable(rule) for flags, _, rule, _ in rows for flag in flags}
    rules = {flag: (dest, rule) for flags, dest, rule, _ in rows for flag in flags}
    values: dict[str, object] = {}
    position = 0
    while (match := _WORD.match(line, position)) and match[1].startswith("-"):
        word = match[1]
        if word == "--":
            position = match.end()
            break
        found = _options_in(word, arity, magic)
        if not found:
            break
        position = match.end()
        for flag, text in found:
            dest, rule = rules[flag]
            if not callable(rule):
                values[dest] = rule
                continue
            given = text
            if given is None:
                following = _WORD.match(line, position)
                if not following:
                    raise OptionError(f"{flag} needs a value: type {_example(flag)}")
                given, position = following[1].strip('"'), following.end()
            value = _checked(flag, given, rule)
            more = rule is _swept  # an option that may be given several times
            values[dest] = (*values.get(dest, ()), value) if more else value  # type: ignore[misc]
    return values, line[position:].strip()


_SAMPLES = {
    "-v": "result",
    "--variable": "result",
    "--baseline": "numpy",
    "--sweep": "n=100,300",
    "--name": "before",
    "--stage": "hlo",
    "--platform": "tpu",
    "--find": "dot_general",
}


def _example(flag: str) -> str:
    return f"{flag} {_SAMPLES.get(flag, '5')}"


def _options_in(word: str, arity: dict[str, bool], magic: str) -> list[tuple[str, str | None]]:
    """The options that one word stands for: ``-n``, ``-n10``, ``--number=10``, ``-qon10``."""
    name, equals, value = word.partition("=")
    if name in arity:
        if equals and not arity[name]:
            raise OptionError(f"{word}: {name} takes no value; type {name} alone")
        return [(name, value if equals else None)]
    if word.startswith("--"):
        near = difflib.get_close_matches(name, arity, 1, 0.7)
        hint = f"did you mean {near[0]}?" if near else f"{magic}? lists the options."
        if magic == "%fwtime":
            hint += " (Code that starts with -- goes after --)"
        raise OptionError(f"unknown option {name}; {hint}")
    found: list[tuple[str, str | None]] = []
    for end, letter in enumerate(word[1:], start=2):
        flag, rest = f"-{letter}", word[end:]
        if flag not in arity:
            return []
        if arity[flag]:
            # `-n10` is an option and `-beta` is code: numbers are told by their first sign.
            is_value = flag == "-v" or not rest or _NUMBER.match(rest) is not None
            return [*found, (flag, rest or None)] if is_value else []
        found.append((flag, None))
    return found


_TIME_USAGE = "%(prog)s [options] code\n       %%%(prog)s [options] [set-up]   (above a cell)"
_GRAPH_USAGE = "%(prog)s [options] call\n       %%%(prog)s [options]   (above a cell)"
_COMPARE_USAGE = "%%%(prog)s [options]   (above a cell)\n       %(prog)s [options] name name"


def usage() -> str:
    """The help text of ``%fwtime``: usage, options from the table, examples, the Python call."""
    return _build("%fwtime", _TIME_ROWS, _TIME_USAGE).format_help() + _TIME_EXAMPLES


def graph_usage() -> str:
    """The help text of ``%jaxpr``, like that of ``%fwtime``."""
    return _build("%jaxpr", _GRAPH_ROWS, _GRAPH_USAGE).format_help() + _GRAPH_EXAMPLES


def compare_usage() -> str:
    """The help text of ``%%fwcompare``, like that of ``%fwtime``."""
    return _build("%fwcompare", _COMPARE_ROWS, _COMPARE_USAGE).format_help() + _COMPARE_EXAMPLES
