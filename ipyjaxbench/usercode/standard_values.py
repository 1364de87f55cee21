"""What is in values of Python's own library, found without running code of the user's."""

import gc
import io
import weakref
import zlib
from collections import ChainMap, UserDict, UserList, UserString
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

from ipyjaxbench.usercode.classes import class_name, module_of
from ipyjaxbench.usercode.imprints import PLAIN, Imprint, imprint_opaque, imprint_plain
from ipyjaxbench.usercode.objects import is_exactly

_MOST_COMPARED = 1 << 20  # bytes
#: Classes whose values never change, and are told apart by their text.
_CONSTANT = {
    "builtins": ("range", "slice"),
    "datetime": ("date", "datetime", "time", "timedelta"),
    "decimal": ("Decimal",),
    "fractions": ("Fraction",),
    "pathlib": ("PosixPath", "PurePosixPath", "PureWindowsPath", "WindowsPath"),
    "uuid": ("UUID",),
}
_LOOKED_THROUGH = (UserDict, UserList, UserString, weakref.WeakKeyDictionary,
                   weakref.WeakValueDictionary, weakref.WeakSet)  # fmt: skip


def imprint_standard(value: Any) -> Imprint | None:
    """Return that of a constant, of bytes, and of what a context or a buffer of text holds.

    Example:
        >>> imprint_standard(range(3)).words, imprint_standard(bytearray(2)).words
        ('range(0, 3)', 'bytearray of 2')
    """
    kind = type(value)
    if class_name(kind) in _CONSTANT.get(module_of(kind).removesuffix("._local"), ()):
        return imprint_plain(value)
    if is_exactly(value, ContextVar):
        try:
            held = value.get()
        except LookupError:
            return Imprint(class_name(kind), "unset", in_place=True)
        found = imprint_plain(held) if is_exactly(held, *PLAIN) else imprint_opaque(held)
        return found._replace(in_place=True, taken_by=".get()")
    if is_exactly(value, io.StringIO, io.BytesIO):
        held = value.getvalue()
        return _of_bytes(kind, held if type(held) is bytes else held.encode(), len(held))
    if is_exactly(value, bytearray, memoryview) or module_of(kind) == "array":
        return _of_bytes(kind, memoryview(value).cast("B"), len(value))
    return None


def unwrapped(value: Any) -> Any:
    """Return the container that one of Python's puts another face on; all else as it is.

    Example:
        >>> unwrapped(UserDict(rate=2.0))
        {'rate': 2.0}
    """
    if is_exactly(value, MappingProxyType):
        return gc.get_referents(value)[0]
    if is_exactly(value, ChainMap):
        return value.maps
    if is_exactly(value, weakref.ref, weakref.KeyedRef):
        return value()
    return value.data if is_exactly(value, *_LOOKED_THROUGH) else value


def _of_bytes(kind: type, held: Any, count: int) -> Imprint:
    words = f"{class_name(kind)} of {count:,}"
    part = held[:_MOST_COMPARED]
    content = words, zlib.crc32(part)
    return Imprint(words, content, in_place=True, is_part=len(part) < len(held))
