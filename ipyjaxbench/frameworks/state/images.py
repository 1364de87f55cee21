"""The pixels of images of Pillow: methods of theirs, and of what draws on them, change these."""

import sys
import zlib
from typing import Any

from ipyjaxbench.frameworks.state.copies import CopiedState
from ipyjaxbench.frameworks.state.copy_budget import CopyBudget
from ipyjaxbench.frameworks.state.undo import State
from ipyjaxbench.usercode import name_of

_MODULE, _KIND = "PIL.Image", "ImagingCore"  # a class that no module has under its name
_BYTES = {"1": 1, "L": 1, "P": 1, "I;16": 2, "I;16B": 2, "I;16L": 2}  # of a pixel; else 4


class Pixels(CopiedState):
    """The pixels of an image, and its palette."""

    def __init__(self, pixels: Any, budget: CopyBudget) -> None:
        width, height = pixels.size
        super().__init__(pixels, budget, width * height * _BYTES.get(pixels.mode, 4))

    def _copy(self) -> tuple[Any, Any]:
        return self._target.copy(), _palette(self._target)

    def _digest(self) -> int:
        return zlib.crc32(_bytes(self._target))

    def _differs(self) -> bool:
        pixels, palette = self._before
        return _palette(self._target) != palette or _bytes(self._target) != _bytes(pixels)

    def restore(self) -> None:
        """Write the old ones into the same memory."""
        pixels, palette = self._before
        self._target.paste(pixels, (0, 0, *self._target.size))
        if palette is not None and palette != _palette(self._target):
            self._target.putpalette("RGBA", "RGBA", palette)


def pixel_states(value: Any, budget: CopyBudget) -> list[State] | None:
    """Return the pixels behind an image; None of other values."""
    is_of_image = name_of(type(value)) == _KIND and _MODULE in sys.modules
    return [Pixels(value, budget)] if is_of_image else None


def _palette(pixels: Any) -> bytes | None:
    if pixels.mode not in ("P", "PA"):
        return None
    found: bytes = pixels.getpalette("RGBA", "RGBA")
    return found


def _bytes(pixels: Any) -> bytes:
    module: Any = sys.modules[_MODULE]
    found: bytes = module.Image()._new(pixels).tobytes()
    return found
