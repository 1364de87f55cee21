"""``python -m ipyjaxbench``: what was measured before, and what is slower in a second run."""

import argparse
import itertools
import os
import sys
from collections.abc import Sequence

from ipyjaxbench.errors import IpyJaxBenchError, OptionError
from ipyjaxbench.records import (
    HistoryEntry,
    HistoryOptions,
    Location,
    Rerun,
    compare_files,
    find_commits,
    query_history,
    read_benchmarks,
    to_bencher,
    to_csv,
    to_json_lines,
    to_markdown,
)
from ipyjaxbench.validation import age, checked, newest

_SLOWER, _BAD_INPUT, _INVALID = 1, 2, 3
_EXIT_STATUS = """
exit status:
  0  all went well; with --fail-slower, nothing is slower
  1  with --fail-slower: something is slower for sure
  2  an option is wrong, or a file or Git's history cannot be read
  3  with --fail-slower: nothing is slower for sure, but a measurement is INVALID or RECOMPILES
     now, so that it was compared with nothing
"""
_FORMATS = {"csv": to_csv, "lines": to_json_lines, "bmf": to_bencher}
_STEP_SUMMARY = "GITHUB_STEP_SUMMARY"  # the file that GitHub Actions shows below a job


class _Formatter(argparse.HelpFormatter):
    """Fills paragraphs, but leaves the table of exit statuses as it is."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text == _EXIT_STATUS else super()._fill_text(text, width, indent)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m ipyjaxbench")
    commands = parser.add_subparsers(dest="command", title="commands")
    diff = commands.add_parser("diff", help="compare two runs")
    shown = commands.add_parser("history", help="show earlier measurements")
    _add_diff(diff)
    _add_history(shown)
    for each in (parser, diff, shown):
        each.formatter_class = _Formatter
        each.epilog = _EXIT_STATUS
    options = parser.parse_args(_spell_out(sys.argv[1:] if arguments is None else arguments))
    if options.command is None:
        parser.print_help()
        return 0
    try:
        return _show_history(options) if options.command == "history" else _compare(options)
    except IpyJaxBenchError as error:
        sys.stderr.write(f"{error}\n")
        return _BAD_INPUT
    except BrokenPipeError:  # as `| head` does, which has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _spell_out(arguments: Sequence[str]) -> list[str]:
    """Give ``--json`` its value where it has none, so that it takes no text that follows."""
    return [
        "--json=lines" if each == "--json" and after != "bmf" else each
        for each, after in itertools.zip_longest(arguments, arguments[1:], fillvalue="")
    ]


def _add_diff(diff: argparse.ArgumentParser) -> None:
    diff.description = (
        "Compare two runs of the same notebook, or of the same test suite with the fixture fwbench."
    )
    diff.add_argument(
        "before", help="the first run: a notebook saved with its outputs, or a file of"
        " pytest --fwbench-json"
    )  # fmt: skip
    diff.add_argument("after", help="the second run")
    diff.add_argument(
        "--fail-slower", action="store_true", help="exit with status 1 if a measurement is slower"
    )
    diff.add_argument(
        "--github",
        action="store_true",
        help=f"write a table in Markdown, and add it to the file ${_STEP_SUMMARY} where that is"
        " set, as in GitHub Actions",
    )


def _add_history(shown: argparse.ArgumentParser) -> None:
    shown.description = (
        "Show earlier measurements, newest first, as %fwhistory does. In CSV, a text that begins"
        " with = + - or @ gets an apostrophe in front, so that no spreadsheet runs it."
    )
    shown.add_argument("text", nargs="?", default="", help="that their name or code contains")
    shown.add_argument(
        "--last", metavar="N", help="at most this many, newest first (20; in other formats all)"
    )
    shown.add_argument("--since", metavar="AGE", help="not older than this: 30m, 12h, 7d, 4w or 1y")
    shown.add_argument(
        "--file",
        metavar="FILE",
        help="those of a file of pytest --fwbench-json, not of the history",
    )
    formats = shown.add_mutually_exclusive_group()
    formats.add_argument("--csv", action="store_const", dest="format", const="csv",
                         help="as CSV, with the columns of history().to_pandas()")  # fmt: skip
    formats.add_argument("--json", dest="format", choices=("lines", "bmf"), metavar="[bmf]",
                         help="as lines of JSON, with the same names; bmf: the newest of each name"
                         " in Bencher Metric Format, in nanoseconds")  # fmt: skip
    formats.add_argument("--commits", action="store_const", dest="format", const="commits",
                         help="over the commits of the Git repository here, and where it became"
                         " slower")  # fmt: skip


def _show_history(options: argparse.Namespace) -> int:
    last, since = options.last, options.since
    if last is None and options.format is None:
        last = "20"
    asked = HistoryOptions(
        text=options.text,
        last=last and int(checked(last, newest, typed=f"--last {last}", example="--last 50")),
        since=since and checked(since, age, typed=f"--since {since}", example="--since 7d"),
    )
    found = query_history(asked, Location(), among=_entries_of(options.file))
    if options.format is None:
        sys.stdout.write(f"{found}\n")
    elif options.format == "commits":
        sys.stdout.write(f"{find_commits(found)}\n")
    else:  # for a program: in UTF-8, with the ends of lines that the format has
        sys.stdout.buffer.write(_FORMATS[options.format](found).encode())
    sys.stdout.flush()
    return 0


def _entries_of(path: str | None) -> Sequence[HistoryEntry] | None:
    return None if path is None else read_benchmarks(path).entries


def _compare(options: argparse.Namespace) -> int:
    rerun = compare_files(options.before, options.after)
    if options.github:
        _write_markdown(to_markdown(rerun))
    else:
        sys.stdout.write(f"{rerun}\n")
    return _status(rerun) if options.fail_slower else 0


def _write_markdown(text: str) -> None:
    """Write to standard output, in UTF-8, and to the summary of the job."""
    sys.stdout.buffer.write(text.encode())
    sys.stdout.flush()
    path = os.environ.get(_STEP_SUMMARY)
    if not path:
        return
    try:
        with open(path, "a", encoding="utf-8") as summary:
            summary.write(f"{text}\n")
    except OSError as error:
        raise OptionError(f"${_STEP_SUMMARY} {path} cannot be written: {error.strerror}") from None


def _status(rerun: Rerun) -> int:
    if rerun.slower:
        return _SLOWER
    return _INVALID if rerun.invalid else 0


if __name__ == "__main__":
    sys.exit(main())
