"""The pixels of images that timed code changes are as after one run of it."""

import pytest
from PIL import Image

from ipyjaxbench.frameworks import CopyBudget
from ipyjaxbench.frameworks.state.images import Pixels
from tests.left import Cell, check_left
from tests.shell import Shell

IMAGE = "from PIL import Image, ImageDraw; h = [0]; im = Image.new({mode!r}, (8, 8))"
LEFT = "h, im.mode, im.size, im.tobytes(), im.info"
PALETTE = f"{IMAGE.format(mode='P')}; im.putpalette([1] * 768)"


def of_mode(mode: str, value: object) -> Cell:
    """One pixel more in each call."""
    code = f"im.putpixel((h[0], 0), {value}); h[0] += 1"
    return Cell(IMAGE.format(mode=mode), code, LEFT)


CELLS = {
    **{mode: of_mode(mode, value)
       for mode, value in (("1", 1), ("L", 7), ("P", 7), ("RGB", (1, 2, 3)), ("F", 1.5),
                           ("RGBA", (1, 2, 3, 4)), ("LA", (1, 2)), ("I", 70_000), ("I;16", 700),
                           ("CMYK", (1, 2, 3, 4)), ("YCbCr", (1, 2, 3)))},
    "a palette": Cell(PALETTE, "h[0] += 1; im.putpalette([h[0]] * 768); im.load()",
                      "im.getpalette('RGBA'), im.convert('RGB').tobytes()"),
    "a colour more in it": Cell(PALETTE, "h[0] += 1; im.putpixel((0, 0), (h[0], 9, 9))",
                                "im.getpalette('RGBA'), im.convert('RGB').tobytes()"),
    "what draws on it": Cell(
        f"{IMAGE.format(mode='L')}; d = ImageDraw.Draw(im)",
        "d.point((0, 0), fill=im.getpixel((0, 0)) + 1)", LEFT),
    "another size": Cell(IMAGE.format(mode="L"), "im.thumbnail((im.width // 2, 8))", LEFT),
    "another mode": Cell(IMAGE.format(mode="L"), "h[0] += 1; im.putalpha(h[0])", LEFT),
    "what is beside the pixels": Cell(IMAGE.format(mode="L"), "im.info[len(im.info)] = 1", LEFT),
    "one that is read alone": Cell(IMAGE.format(mode="L"), "im.resize((2, 2)).getpixel((0, 0))",
                                   LEFT),
}  # fmt: skip


@pytest.mark.parametrize("name", CELLS)
def test_an_image_is_as_after_one_run(shell: Shell, name: str) -> None:
    check_left(shell, CELLS[name])


@pytest.mark.parametrize("mode", ["L", "I", "F", "RGB"])
def test_one_that_is_too_large_to_be_copied_is_seen_to_change(mode: str) -> None:
    image = Image.new(mode, (8, 8))
    state = Pixels(image.im, CopyBudget(0))
    assert (state.can_restore, state.changed()) == (False, False)
    image.putpixel((0, 0), 3)
    assert state.changed()
