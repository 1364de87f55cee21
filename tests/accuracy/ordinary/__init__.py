"""Ordinary code of many libraries, as people type it in a notebook: a set-up, and single lines."""

from tests.accuracy.ordinary.arrays import ARRAYS
from tests.accuracy.ordinary.library import Library
from tests.accuracy.ordinary.plain import PLAIN
from tests.accuracy.ordinary.tables import TABLES
from tests.accuracy.ordinary.tensors import TENSORS

LIBRARIES: tuple[Library, ...] = (*PLAIN, *ARRAYS, *TABLES, *TENSORS)
