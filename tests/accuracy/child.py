"""One section for one framework, in a process of its own: ``python -m tests.accuracy.child``."""

import json
import sys

from tests.accuracy.sections import SECTIONS


def main(section: str, group: str, rounds: str) -> None:
    """Print each row when it is known, as a line of JSON."""
    measure = SECTIONS[section].measure
    assert measure is not None
    for row in measure(group, int(rounds)):
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
