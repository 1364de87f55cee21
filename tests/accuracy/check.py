"""Every expression of a framework, once as typed and once by hand: do they run?"""

import sys

from tests.accuracy.cases import GROUPS


def main(group: str) -> None:
    """Print the name of each that ran."""
    for case in GROUPS[group]:
        names = case.names()
        for code in (case.typed, case.by_hand(names)):
            if case.first:
                case.prepare(names)
            exec(case.dirt, names)
            exec(code, names)
        print(case.name)


if __name__ == "__main__":
    main(*sys.argv[1:])
