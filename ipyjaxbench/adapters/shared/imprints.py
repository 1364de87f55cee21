"""What tells arrays from others that a program may have been compiled with; none is kept."""

import sys
import zlib
from typing import Any

import numpy as np

from ipyjaxbench import units
from ipyjaxbench.usercode import Imprint, is_of, token

MOST_COMPARED = 1 << 20  # bytes of an array whose values are compared; of others, its identity
#: Attributes of layers that Keras sets for itself, and no program depends on.
KERAS_OWN = frozenset((
    "name", "built", "build", "quantize", "compiled", "supports_jit", "lora_enabled", "path",
    "parent_path", "train_function", "test_function", "predict_function", "stop_training",
    "stop_evaluating", "stop_predicting", "history",
))  # fmt: skip
_SAMPLED = 1 << 16  # bytes that are looked at of a larger one that may change in place


def imprint_identity(words: str, value: object, kind: str) -> Imprint:
    """Return which object it is, whatever is in it."""
    return Imprint(words, (words, token(value)), kind)


def imprint_values(words: str, array: Any, *, in_place: bool = False) -> Imprint:
    """Return the values of an array of NumPy's in short."""
    return Imprint(words, (words, zlib.crc32(array.tobytes())), "array", in_place=in_place)


def imprint_numpy(value: Any) -> Imprint:
    """Return the values of an array in short; of a large one of a part, and which one it is."""
    if isinstance(value, np.generic):
        return Imprint(str(value), (str(value.dtype), value.tobytes()))
    words = units.array(str(value.dtype), value.shape)
    if value.dtype.hasobject:
        return imprint_identity(words, value, "array")
    if value.nbytes <= MOST_COMPARED:
        return imprint_values(words, value, in_place=True)
    step = max(value.size * value.itemsize // _SAMPLED, 1)
    part = value.reshape(-1)[::step] if value.flags.c_contiguous else value.flat[:_SAMPLED]
    content = words, token(value), zlib.crc32(part.tobytes())
    return Imprint(words, content, "array", in_place=True, is_part=part.size < value.size)


def imprint_table(value: Any) -> Imprint | None:
    """Return the values of a table of pandas' in short, and those of one of its columns.

    Of a large one it is a part, and which one it is; None for everything else.
    """
    pandas = sys.modules.get("pandas")
    if pandas is None or not is_of(value, pandas.DataFrame, pandas.Series, pandas.Index):
        return None
    words = f"{type(value).__name__} of {len(value):,}"
    step = max(value.size * 8 // _SAMPLED, 1)
    part = value if value.size * 8 <= MOST_COMPARED else value[::step]
    names = str(getattr(value, "columns", getattr(value, "name", "")))
    content = words, names, zlib.crc32(pandas.util.hash_pandas_object(part).to_numpy().tobytes())
    which = token(value) if part is not value else 0
    return Imprint(words, (*content, which), "array", in_place=True, is_part=part is not value)
