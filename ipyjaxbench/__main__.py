"""``python -m ipyjaxbench``: what was measured before, and what is slower in a second run."""

import argparse
import os
import sys

from ipyjaxbench.errors import IpyJaxBenchError
from ipyjaxbench.records import (
    HistoryOptions,
    Location,
    compare_notebooks,
    query_history,
    to_csv,
    to_json_lines,
)
from ipyjaxbench.validation import age, checked, newest

_SLOWER, _BAD_INPUT = 1, 2
_FORMATS = {"csv": to_csv, "json": to_json_lines}


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m ipyjaxbench")
    commands = parser.add_subparsers(dest="command", title="commands")
    _add_diff(commands.add_parser("diff", help="compare two runs of the same notebook"))
    _add_history(commands.add_parser("history", help="show earlier measurements"))
    options = parser.parse_args(arguments)
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


def _add_diff(diff: argparse.ArgumentParser) -> None:
    diff.description = (
        "Compare two runs of the same notebook. Exit status: 0; 1 with --fail-slower if a"
        " measurement is slower; 2 if a notebook cannot be read."
    )
    diff.add_argument("before", help="notebook of the first run, saved with its outputs")
    diff.add_argument("after", help="notebook of the second run")
    diff.add_argument(
        "--fail-slower", action="store_true", help="exit with status 1 if a measurement is slower"
    )


def _add_history(shown: argparse.ArgumentParser) -> None:
    shown.description = (
        "Show earlier measurements, newest first, as %fwhistory does. In CSV, a text that begins"
        " with = + - or @ gets an apostrophe in front, so that no spreadsheet runs it."
    )
    shown.add_argument("text", nargs="?", default="", help="that their name or code contains")
    shown.add_argument(
        "--last", metavar="N", help="at most this many, newest first (20; as CSV or JSON all)"
    )
    shown.add_argument("--since", metavar="AGE", help="not older than this: 30m, 12h, 7d, 4w or 1y")
    formats = shown.add_mutually_exclusive_group()
    formats.add_argument("--csv", action="store_const", dest="format", const="csv",
                         help="as CSV, with the columns of history().to_pandas()")  # fmt: skip
    formats.add_argument("--json", action="store_const", dest="format", const="json",
                         help="as lines of JSON, with the same names")  # fmt: skip


def _show_history(options: argparse.Namespace) -> int:
    last, since = options.last, options.since
    if last is None and options.format is None:
        last = "20"
    asked = HistoryOptions(
        text=options.text,
        last=last and int(checked(last, newest, typed=f"--last {last}", example="--last 50")),
        since=since and checked(since, age, typed=f"--since {since}", example="--since 7d"),
    )
    found = query_history(asked, Location())
    if options.format is None:
        sys.stdout.write(f"{found}\n")
    else:  # for a program: in UTF-8, with the ends of lines that the format has
        sys.stdout.buffer.write(_FORMATS[options.format](found).encode())
    sys.stdout.flush()
    return 0


def _compare(options: argparse.Namespace) -> int:
    rerun = compare_notebooks(options.before, options.after)
    sys.stdout.write(f"{rerun}\n")
    return _SLOWER if options.fail_slower and rerun.slower else 0


if __name__ == "__main__":
    sys.exit(main())
