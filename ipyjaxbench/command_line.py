"""The option table of each magic, and the splitter that takes options off a line.

What follows the options is code and is kept byte for byte, so that ``-x + 1`` and ``"a  b"``
mean what they say. `argparse` converts values and writes the help text.
"""

import argparse
import difflib
import re
from typing import NoReturn

from ipyjaxbench.errors import OptionError
from ipyjaxbench.options import (
    CompareOptions,
    GraphOptions,
    PlaceOptions,
    TimeOptions,
    TraceOptions,
)
from ipyjaxbench.rules import (
    axes,
    checked,
    chip,
    count,
    digits,
    levels,
    seconds,
    shapes,
    swept,
    variable,
    whole,
)

_NUMBER = re.compile(r"\.?\d")
_WORD = re.compile(r"""\s*("[^"]*"|'[^']*'|\S+)""")


class _Parser(argparse.ArgumentParser):
    """argparse that raises instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        raise OptionError(message)


# Each row: flags, keyword of the options, rule for the value (or the constant for it), help.
_Rows = tuple[tuple[tuple[str, ...], str, object, str], ...]
_TIME_ROWS: _Rows = (
    (("-n", "--number"), "number", whole, "calls per sample; with -r exactly N×R calls are made"),
    (("-r", "--repeat"), "repeat", whole, "number of samples (7 when only -n is given)"),
    (("-b", "--budget"), "budget", seconds, "seconds to spend after the first call (2)"),
    (("--quick",), "aim", "quick", "stop at ± 5 %%, after 0.5 s at most"),
    (("--precise",), "aim", "precise", "stop at ± 0.5 %%, after 10 s at most"),
    (("-p", "--precision"), "precision", digits, "significant digits shown (3)"),
    (("-q", "--quiet"), "quiet", True, "show nothing"),
    (("-o", "--return"), "returned", True, "return the result object"),
    (("-v", "--variable"), "variable", variable, "save the result object under this name"),
    (("--name",), "name", str, "keep the result under this name, for %%fwcompare A B"),
    (("-t", "--calendar"), "clock", "calendar", "measure with time.time"),
    (("-c", "--cpu"), "clock", "cpu", "measure CPU time of the process instead of elapsed time"),
    (("--fresh",), "fresh", True, "one more call, compiled anew; nothing in your caches is lost"),
    (("--device",), "device", True, "profile a few more calls: how long devices are busy"),
    (("--ops",), "ops", True, "the same, and list the operations that take longest"),
)

_COMPARE_ROWS: _Rows = (
    (("--baseline",), "baseline", str, "label of the arm to compare with (the first)"),
    (("--sweep",), "sweep", swept, "compare at each of these values: n=100,300 or n=2**6..2**12"),
    (("-b", "--budget"), "budget", seconds, "seconds to spend after the first calls (2.2 an arm)"),
    (("--align",), "align", True, "all CPUs and full matrix precision for all arms"),
    (("-p", "--precision"), "precision", digits, "significant digits shown (3)"),
    (("-q", "--quiet"), "quiet", True, "show nothing"),
    (("-o", "--return"), "returned", True, "return the result object"),
    (("-v", "--variable"), "variable", variable, "save the result object under this name"),
)

_GRAPH_ROWS: _Rows = (
    (("--stage",), "stage", str, "jaxpr, stablehlo, hlo, or optimized: what the compiler makes"),
    (("--dynamo",), "stage", "dynamo", "what torch.compile would see, with graph breaks; runs it"),
    (("--export",), "stage", "export", "what torch.export makes of it"),
    (("--platform",), "platform", str, "lower for cpu, cuda, rocm or tpu, with stablehlo or hlo"),
    (("--depth",), "depth", levels, "levels of inner programs that a long text shows (1)"),
    (("--flat",), "depth", None, "show all of a long text"),
    (("--find",), "find", str, "show only lines with this text, as in --find dot_general"),
    (("--stats",), "stats", True, "how often each primitive is computed; what the compiler counts"),
    (("--src",), "src", True, "how much each line of code computes"),
    (("--mermaid",), "mermaid", True, "draw it, where the notebook draws Mermaid"),
    (
        ("--diff",),
        "diff",
        str,
        'show what differs from another call, "f(y)", or from the last time',
    ),
    (("--on",), "on", chip, "what a chip's compiler expects: tpu:v5e; may be given several times"),
    (("--shard",), "shard", axes, "cut axes into a part for each of several chips: x:0,w:1"),
    (("--shapes",), "shapes", shapes, "call a function with arrays of these: f32[8,4],i32[]"),
    (("--grad",), "grad", True, "the program of the gradient by the first argument"),
    (("--vmap",), "vmap", True, "the program for each row of the arrays"),
    (("--np",), "numpy", True, "take jax.numpy where the code takes NumPy"),
    (("--check",), "check", True, "say what the program holds that may not be expected"),
    (("--tb",), "tb", True, "show the whole traceback where tracing fails"),
    (("-q", "--quiet"), "quiet", True, "show nothing"),
    (("-o", "--return"), "returned", True, "return the result object"),
    (("-v", "--variable"), "variable", variable, "save the result object under this name"),
)


_TRACE_ROWS: _Rows = (
    (("--predict",), "predict", True, "say whether the call would be traced; nothing is run"),
    (("--max-traces",), "most", count, "fail when more is traced than this"),
    (("--history",), "history", True, "list the signatures that functions were traced with"),
    (("--watch",), "watch", str, "on or off: a line below each later cell that traces something"),
    (("--internal",), "internal", True, "name all that was compiled outside of the calls"),
    (("--json",), "json", True, "show the record instead of the report"),
    (("-q", "--quiet"), "quiet", True, "show nothing"),
    (("-o", "--return"), "returned", True, "return the result object"),
    (("-v", "--variable"), "variable", variable, "save the result object under this name"),
)


_PLACE_ROWS: _Rows = (
    (("--start",), "start", True, "let frameworks that were imported look for devices now"),
    (("-q", "--quiet"), "quiet", True, "show nothing"),
    (("-o", "--return"), "returned", True, "return the result object"),
    (("-v", "--variable"), "variable", variable, "save the result object under this name"),
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
  %jaxpr --shapes "f32[8,4], i32[]" f   f of arrays of these shapes, without any data
  %jaxpr --diff "f(x16)" f(x32)         what differs between the programs of two calls
  %jaxpr --diff last f(x)               what an edit of f has changed
  %jaxpr --on tpu:v5e --on tpu:v6e f(x) what TPUs would make of it, from any machine
  g = %jaxpr -q f(x)                    g.flops, g.static_argnames, g.jaxpr

from Python:
  ipyjaxbench.graph(f, x, y)
"""


_TRACE_EXAMPLES = """
examples:
  %trace_cached f(x)                    calls it twice: the first is traced, the second cached
  %%trace_cached                        a line for each call of a compiled function in the cell
  %%trace_cached --max-traces 1         fails with the reason when more is traced
  %trace_cached --predict f(y)          would it be traced? nothing is run
  %trace_cached --history step          the signatures that step was traced with so far
  %trace_cached --watch on              a line below each later cell that traces something

from Python:
  with ipyjaxbench.trace_cached() as t: ...
  ipyjaxbench.assert_max_traces(f, 1)
"""


_PLACE_EXAMPLES = """
examples:
  %fwdevices                            devices of every framework in use; arrays by name
  %fwdevices x params["w"] model        where these live, leaf by leaf, and how they are cut
  %%fwdevices                           what a cell copies between host and devices, and frees

from Python:
  ipyjaxbench.devices()
  ipyjaxbench.placement(x, params)
  with ipyjaxbench.transfers() as t: ...
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


def split_trace(line: str) -> tuple[TraceOptions, str]:
    """Take the options of ``%trace_cached`` off ``line``, as `split` does.

    Example:
        >>> options, code = split_trace("--max-traces 1 f(x)")
        >>> options.most, code
        (1, 'f(x)')
    """
    values, code = _taken_off(line, _TRACE_ROWS, "%trace_cached")
    return TraceOptions(**values), code  # type: ignore[arg-type]


def split_place(line: str) -> tuple[PlaceOptions, str]:
    """Take the options of ``%fwdevices`` off ``line``, as `split` does.

    Example:
        >>> split_place("--start x")[1]
        'x'
    """
    values, code = _taken_off(line, _PLACE_ROWS, "%fwdevices")
    return PlaceOptions(**values), code  # type: ignore[arg-type]


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
                if values.get(dest, rule) != rule and flag.startswith("--"):
                    other = next(f for f, to in rules.items() if to == (dest, values[dest]))
                    raise OptionError(f"{other} and {flag} do not go together: leave one out")
                values[dest] = rule
                continue
            given = text
            if given is None:
                following = _WORD.match(line, position)
                if not following:
                    raise OptionError(f"{flag} needs a value: type {_example(flag)}")
                given, position = _unquoted(following[1]), following.end()
            value = checked(flag, given, rule)
            more = rule in (swept, chip)  # an option that may be given several times
            values[dest] = (*values.get(dest, ()), value) if more else value  # type: ignore[misc]
    return values, line[position:].strip()


def _unquoted(word: str) -> str:
    quoted = len(word) > 1 and word[0] == word[-1] and word[0] in "\"'"
    return word[1:-1] if quoted else word


_SAMPLES = {
    "-v": "result",
    "--variable": "result",
    "--baseline": "numpy",
    "--sweep": "n=100,300",
    "--name": "before",
    "--stage": "hlo",
    "--on": "tpu:v5e",
    "--diff": "last",
    "--shapes": '"f32[8,4], i32[]"',
    "--platform": "tpu",
    "--find": "dot_general",
    "--shard": "x:0",
    "--watch": "on",
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
_TRACE_USAGE = "%(prog)s [options] code\n       %%%(prog)s [options]   (above a cell)"
_COMPARE_USAGE = "%%%(prog)s [options]   (above a cell)\n       %(prog)s [options] name name"


def usage() -> str:
    """The help text of ``%fwtime``: usage, options from the table, examples, the Python call."""
    return _build("%fwtime", _TIME_ROWS, _TIME_USAGE).format_help() + _TIME_EXAMPLES


def graph_usage() -> str:
    """The help text of ``%jaxpr``, like that of ``%fwtime``."""
    return _build("%jaxpr", _GRAPH_ROWS, _GRAPH_USAGE).format_help() + _GRAPH_EXAMPLES


def trace_usage() -> str:
    """The help text of ``%trace_cached``, like that of ``%fwtime``."""
    return _build("%trace_cached", _TRACE_ROWS, _TRACE_USAGE).format_help() + _TRACE_EXAMPLES


def place_usage() -> str:
    """The help text of ``%fwdevices``, like that of ``%fwtime``."""
    usage = "%(prog)s [options] [value value ...]\n       %%%(prog)s [options]   (above a cell)"
    return _build("%fwdevices", _PLACE_ROWS, usage).format_help() + _PLACE_EXAMPLES


def compare_usage() -> str:
    """The help text of ``%%fwcompare``, like that of ``%fwtime``."""
    return _build("%fwcompare", _COMPARE_ROWS, _COMPARE_USAGE).format_help() + _COMPARE_EXAMPLES
