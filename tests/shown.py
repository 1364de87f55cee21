"""Types the README's Python blocks into one fresh session, in order, and writes what they show.

``python -m tests.shown`` makes the README's outputs and pictures anew (on a quiet machine, with
a Chromium, and libtpu for one of them), unless one of the first pictures is NOISY; ``--check`` only
says which blocks fail, in little time.
"""

import builtins
import dis
import html
import itertools
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

ROOT = Path(__file__).parents[1]
README, PICTURES = ROOT / "README.md", ROOT / "examples" / "pictures"
#: A block of Python, and the output or the picture below it.
_BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n"
    r"(?:\n```text\n(?P<text>.*?)^```\n|\n(?P<picture><picture>[^\n]*?pictures/(?P<name>\w+)-[^\n]*)\n)?",
    re.MULTILINE | re.DOTALL,
)
#: What `--check` types instead: of all layers, each compilation takes seconds.
_LAYERS, _FEWER_LAYERS = "(60, 128, 128)", "(6, 128, 128)"
#: What a block says of itself where it shows an error.
_FAILS = "fails"
_FIRST = 3  # pictures, by which people judge
_MICROSECONDS = re.compile(r"\bus\b")
_PARTS = re.compile(r"<(?:img|table|pre|details)\b")  # what stands below a headline
_COMMAND = re.compile(r'<pre class="typed">.*?</pre>', re.DOTALL)  # what stands above a report
_NO_LIBTPU = "libtpu is not installed"
#: Theme -> background and colour of GitHub's pages.
_THEMES = {"light": ("#ffffff", "#1f2328"), "dark": ("#0d1117", "#f0f6fc")}
_WIDTH, _HEIGHT, _SCALE, _COLOURS = 760, 1600, 2, 128
_PANES, _WIDTH_OF_PANES = 'class="panes"', 1100
_PAGE = """<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="{theme}">
<style>body {{ font: 14px/1.45 system-ui, sans-serif; margin: 0; background: {background};
color: {colour} }} pre, code {{ font-size: 12px }} main {{ width: {width}px; padding: 4px 14px 10px;
border: 1px solid #8886; border-radius: 8px; box-sizing: border-box }}
.panes {{ display: flex; gap: 28px }} .panes > * {{ flex: 2.2; min-width: 0 }}
.panes > :last-child {{ flex: 1 }} .panes pre {{ white-space: pre-wrap }}
.typed {{ font-weight: 600 }}</style><main>{html}</main>"""
_TAG = (
    '<picture><source media="(prefers-color-scheme: dark)"'
    ' srcset="examples/pictures/{name}-dark.png">'
    '<img src="examples/pictures/{name}-light.png" width="{width}" alt="{alt}"></picture>'
)


class Shown(NamedTuple):
    """What became of one block."""

    code: str
    text: str
    html: str
    error: BaseException | None

    @property
    def fails(self) -> bool:
        """Whether it raised what it is not meant to raise, or did not raise what it is."""
        if self.error is not None and _NO_LIBTPU in str(self.error):
            return False
        return (self.error is not None) != (_FAILS in self.code)


def type_blocks(text: str, budget: float | None = None) -> list[Shown]:
    """Type all blocks of a page into this process's session; with a budget where none is typed."""
    config = Config({"IpyJaxBench": {"budget": budget}})
    shell = InteractiveShell.instance(colors="NoColor", config=config)
    shown = []
    for block in _BLOCK.finditer(text):
        typed = [_type(shell, cell) for cell in _cells(block["code"])]
        shown.append(_join(typed, block["code"]))
    return shown


def _type(shell: InteractiveShell, code: str) -> Shown:
    with capture_output() as captured:
        done = shell.run_cell(code, store_history=True)
    outputs = [each.data for each in captured.outputs]
    text = captured.stdout + "".join(f"{each.get('text/plain', '')}\n" for each in outputs)
    text = _MICROSECONDS.sub("µs", text).replace(" +- ", " ± ")  # as a terminal shows it
    page = "".join(each.get("text/html", "") for each in outputs)
    return Shown(code, text.strip("\n") + "\n", page, done.error_before_exec or done.error_in_exec)


def undefined(names: dict[str, Any]) -> set[str]:
    """Global names that functions of the session read and that it does not have."""
    own = [each.__code__ for each in names.values()
           if isinstance(each, FunctionType) and each.__module__ == "__main__"]  # fmt: skip
    read = {name for code in own for name in _globals(code)}
    return {name for name in read if name not in names and not hasattr(builtins, name)}


def _globals(code: CodeType) -> Iterator[str]:
    yield from (each.argval for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL")
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _globals(constant)


def _cells(code: str) -> list[str]:
    """A block as it is typed: each line of a magic by itself, and what stands between them."""
    if code.startswith("%%"):
        return [code]
    groups = itertools.groupby(code.splitlines(), key=lambda line: line.startswith("%"))
    cells = [lines if magics else ["\n".join(lines)] for magics, group in groups
             if (lines := [*group]) or magics]  # fmt: skip
    return [cell for some in cells for cell in some]


def _join(typed: list[Shown], code: str) -> Shown:
    """What the cells of a block have shown: texts below each other, pictures side by side."""
    error = next((each.error for each in typed if each.error is not None), None)
    showing = [each for each in typed if each.text.strip()]
    if len(showing) == 1:
        return showing[0]._replace(code=code, error=error)
    text = "\n".join(f">>> {each.code}\n{each.text.lstrip()}" for each in showing)
    panes = "".join(_pane(each) for each in showing)
    return Shown(code, text, f"<div {_PANES}>{panes}</div>" if panes else "", error)


def _pane(typed: Shown) -> str:
    """One of several results that stand side by side, below what was typed."""
    shown = typed.html or f"<pre>{html.escape(typed.text)}</pre>"
    return f'<div><pre class="typed">{html.escape(typed.code)}</pre>{shown}</div>'


def refusal(page: str, pictures: Iterable[str]) -> str:
    """Why a page is not saved, in one line; "" where none of its first pictures is NOISY.

    Args:
        page: its name.
        pictures: the text of each report that it shows, in order.
    """
    for number, text in enumerate(itertools.islice(pictures, _FIRST), 1):
        if noisy := next((line for line in text.splitlines() if "NOISY" in line.split()), ""):
            return (
                f"{page} is not saved: its picture {number} is noisy ({' '.join(noisy.split())})."
                f" The first {_FIRST} may not be: run it again in a quiet moment, give that cell"
                " more time with -b, or take another machine."
            )
    return ""


def pictured(text: str, shown: list[Shown]) -> Iterator[str]:
    """The texts of the blocks that have a picture below them."""
    for block, made in zip(_BLOCK.finditer(text), shown, strict=True):
        if block["picture"] is not None:
            yield made.text


def write(text: str, shown: list[Shown]) -> str:
    """Return a page with what its blocks have shown; pictures are written into their folder."""
    blocks = iter(shown)

    def fill(found: re.Match[str]) -> str:
        made = next(blocks)
        if found["text"] is not None:
            return _replace(found, "text", made.text)
        if found["picture"] is None or not made.html:
            return found[0]
        photograph(made.html, found["name"])
        alt, width = html.escape(_headline(made.html)), _width(made.html)
        return _replace(found, "picture", _TAG.format(name=found["name"], alt=alt, width=width))

    return _BLOCK.sub(fill, text)


def _width(page: str) -> int:
    """CSS pixels of the picture of a report, or of several side by side."""
    return _WIDTH_OF_PANES if _PANES in page else _WIDTH


def _headline(page: str) -> str:
    """The words of a report above its first picture or table."""
    head = re.sub(r"<[^>]+>", " ", _PARTS.split(_COMMAND.sub("", page))[0])
    return " ".join(html.unescape(head).split())


def _replace(found: re.Match[str], group: str, text: str) -> str:
    start, end = (place - found.start() for place in found.span(group))
    return f"{found[0][:start]}{text}{found[0][end:]}"


def photograph(report: str, name: str) -> None:
    """Write a report as two pictures: on a light page and on a dark one."""
    from PIL import Image, ImageChops

    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        for theme, (background, colour) in _THEMES.items():
            page, taken = Path(scratch, "page.html"), Path(scratch, "taken.png")
            page.write_text(
                _PAGE.format(
                    theme=theme, background=background, colour=colour, html=report,
                    width=_width(report),
                ),
                "utf-8",
            )  # fmt: skip
            chromium = ["chromium", "--headless", "--no-sandbox", "--disable-gpu",
                        "--hide-scrollbars", f"--force-device-scale-factor={_SCALE}",
                        f"--window-size={_width(report)},{_HEIGHT}",
                        f"--screenshot={taken}"]  # fmt: skip
            subprocess.run([*chromium, page.as_uri()], check=True, capture_output=True)
            image = Image.open(taken).convert("RGB")
            empty = Image.new("RGB", image.size, background)
            bottom = (ImageChops.difference(image, empty).getbbox() or (0, 0, 0, 0))[3]
            image = image.crop((0, 0, image.width, bottom))
            path = PICTURES / f"{name}-{theme}.png"
            image.save(path)
            reduce_colours(path)


def reduce_colours(path: Path) -> None:
    """Write a picture again with as many colours as it needs to look the same."""
    from PIL import Image

    with Image.open(path) as image:
        small = image.convert("RGB").quantize(_COLOURS, kmeans=2)
    small.save(path, optimize=True)


def main() -> int:
    """Type all; write what was shown, or say what failed."""
    check = "--check" in sys.argv
    with tempfile.TemporaryDirectory() as data:
        os.environ["JUPYTER_DATA_DIR"] = data  # measurements of other days are not shown
        history = Path(data, "ipyjaxbench", "history")
        history.mkdir(parents=True)
        (history / "README.txt").touch()  # where they are kept was said
        text = README.read_text("utf-8")
        if check:
            text = text.replace(_LAYERS, _FEWER_LAYERS)
        shown = type_blocks(text, 0.2 if check else None)
        failed = [each for each in shown if each.fails]
        for each in failed:
            print(f"{each.code}\n{each.text}\n{each.error!r}\n")
        unknown = undefined(InteractiveShell.instance().user_ns)
        for name in unknown:
            print(f"{name} is not defined")
        refused = "" if failed or check else refusal(README.name, pictured(text, shown))
        if refused:
            print(refused)
        elif not failed and not check:
            README.write_text(write(text, shown), "utf-8")
    return int(bool(failed or unknown or refused))


if __name__ == "__main__":
    sys.exit(main())
