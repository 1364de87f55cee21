"""Magics leave the attributes of objects where they are read fast: no dictionary is made."""

import gc
import sys

import pytest

from tests.shell import Shell

pytestmark = pytest.mark.skipif(
    sys.version_info >= (3, 13), reason="from Python 3.13 on a dictionary slows nothing down"
)

CODE = """
import math

class Point:
    def __init__(self):
        self.x, self.y = 3.0, 4.0

    def norm(self):
        return math.sqrt(self.x * self.x + self.y * self.y)

    def move(self):
        self.x += 1.0

p = Point()
"""
MAGICS = (
    "%fwtime --quick p.norm()",
    "%fwtime --quick p.move()",
    "%%fwtime --quick\np.norm()",
    "%%fwcompare -b 0.1\na: p.norm()\nb: p.x + p.y",
    "%trace_cached p.norm()",
    "%%trace_cached\np.norm()",
    "%fwdevices",
    "%fwdevices p",
    "%%fwdevices\np.norm()",
    "p.norm()",  # is looked at after the cell
)


@pytest.mark.parametrize("magic", MAGICS)
def test_no_dictionary_is_made(shell: Shell, magic: str) -> None:
    shell.run(CODE)
    shell.run(magic)
    held = gc.get_referents(shell.names["p"])
    assert [type(each) for each in held] == [float, float, type]
