"""Cells that change something of the session, by library, and what values hold after them."""

from tests.accuracy.left.cells import Cells
from tests.accuracy.left.frameworks import FRAMEWORKS
from tests.accuracy.left.libraries import LIBRARIES

#: By the process that runs them.
CELLS: dict[str, tuple[Cells, ...]] = {**LIBRARIES, **FRAMEWORKS}
