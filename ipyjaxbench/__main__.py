"""``python -m ipyjaxbench diff a.ipynb b.ipynb``: what is slower in the second run."""

import argparse
import sys

from ipyjaxbench.errors import IpyJaxBenchError
from ipyjaxbench.records import compare_notebooks

_SLOWER, _BAD_INPUT = 1, 2


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m ipyjaxbench")
    commands = parser.add_subparsers(dest="command", title="commands")
    diff = commands.add_parser(
        "diff",
        help="compare two runs of the same notebook",
        description="Compare two runs of the same notebook. Exit status: 0; 1 with --fail-slower"
        " if a measurement is slower; 2 if a notebook cannot be read.",
    )
    diff.add_argument("before", help="notebook of the first run, saved with its outputs")
    diff.add_argument("after", help="notebook of the second run")
    diff.add_argument(
        "--fail-slower", action="store_true", help="exit with status 1 if a measurement is slower"
    )
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    try:
        rerun = compare_notebooks(options.before, options.after)
    except IpyJaxBenchError as error:
        sys.stderr.write(f"{error}\n")
        return _BAD_INPUT
    sys.stdout.write(f"{rerun}\n")
    return _SLOWER if options.fail_slower and rerun.slower else 0


if __name__ == "__main__":
    sys.exit(main())
