"""What converters, runners and terminals make of the examples, each as people start it."""

import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest

from tests.jupyter.uses import FAILS
from tests.pages import notebooks
from tests.pages.opened import LOOKS, hard_to_read, photograph
from tests.pages.server import environment

if TYPE_CHECKING:
    from playwright.sync_api import Browser

#: A console takes each line as a cell.
FIRST = """\
%load_ext ipyjaxbench
import jax
x = jax.random.normal(jax.random.key(0), (500, 500))
%fwtime x @ x.T
"""
A4 = 718  # pixels between the margins


def command(module: str, *arguments: str) -> list[str]:
    """How to start a program of this environment; one that is not there skips the test."""
    if find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    return [sys.executable, "-m", module, *arguments]


def run(folder: Path, *typed: str, script: str = "") -> subprocess.CompletedProcess[str]:
    """A program that ran in the folder, with a script as its input."""
    return subprocess.run(
        command(*typed), input=script, cwd=folder, env=environment(folder),
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def typed_into_console(folder: Path, script: str) -> tuple[str, int | None]:
    """What a console showed, and its exit status.

    It prompts before it listens to its kernel, and waits forever for the end of a first cell that
    it has missed (6 of 25 times on a busy machine); a person takes longer to type than that.
    """
    options = ("--simple-prompt", "--no-confirm-exit")
    with subprocess.Popen(
        command("jupyter_console", *options), cwd=folder, env=environment(folder), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as console:  # fmt: skip
        assert console.stdout
        shown = ""
        while not shown.endswith("In [1]: ") and (letter := console.stdout.read(1)):
            shown += letter
        time.sleep(3)
        try:
            shown += console.communicate(script, timeout=300)[0]
        finally:
            console.kill()
    return shown, console.returncode


@pytest.mark.parametrize(
    "typed",
    [
        ("nbconvert", "--execute", "--to", "html", "failing.ipynb"),
        ("jupyter", "execute", "failing.ipynb"),
    ],
    ids=" ".join,
)
def test_an_error_in_a_magic_stops_with_a_status_and_the_line(
    folder: Path, typed: tuple[str, ...]
) -> None:
    cells = ["%load_ext ipyjaxbench", FAILS, "x = 1\n\n%fwtime g(x)", "print('never')"]
    book = notebooks.empty([nbformat.v4.new_code_cell(cell) for cell in cells])
    nbformat.write(book, folder / "failing.ipynb")
    done = run(folder, *typed)
    assert done.returncode != 0
    plain = notebooks.without_colours(done.stderr)
    assert "----> 3 g(x)" in plain
    assert "ZeroDivisionError" in plain
    assert "never" not in done.stdout


def test_a_script_that_is_piped_into_ipython_gives_plain_lines(folder: Path) -> None:
    done = run(folder, "IPython", "--no-banner", script=FIRST)
    assert done.returncode == 0
    _assert_plain(done.stdout)


def test_a_script_that_is_piped_into_a_console_gives_plain_lines(folder: Path) -> None:
    """A console shows no updates: a line of progress would stay, and the result not be seen."""
    noisy = "import time, random\n%fwtime -b 3 time.sleep(random.random() / 50)\n"
    script = FIRST + noisy
    shown, status = typed_into_console(folder, script)
    assert status == 0
    _assert_plain(shown)
    assert "time.sleep(random.random() / 50)" in shown


def _assert_plain(shown: str) -> None:
    assert "x @ x.T" in shown
    assert "jax 0." in shown
    assert "\x1b" not in shown
    assert "\r" not in shown
    assert "measuring" not in shown


@pytest.fixture(scope="module")
def converted(folder: Path) -> Path:
    """The gallery as a page that stands alone."""
    done = run(folder, "nbconvert", "--to", "html", "gallery.ipynb")
    assert done.returncode == 0, done.stderr
    return folder / "gallery.html"


def test_on_paper_nothing_is_cut_off(converted: Path, browser: "Browser") -> None:
    page = browser.new_page(viewport={"width": A4, "height": 1000})
    # Scripts for formulas and widgets are the page's own, and come from elsewhere.
    page.route("**/*", lambda route: route.continue_() if _is_here(route) else route.abort())
    page.goto(converted.as_uri())
    page.emulate_media(media="print")
    names = list(notebooks.bundles())
    cards = page.evaluate(f"() => {LOOKS.rstrip()}.cards()")
    for name, card in zip(names, cards, strict=True):
        assert (name, hard_to_read(card), card["wide"] <= 0) == (name, [], True)
    programs = "[...document.querySelectorAll('.jp-RenderedHTML pre')]"
    fonts = page.evaluate(f"{programs}.map(each => getComputedStyle(each).fontFamily)")
    assert len(fonts) > 10
    assert [font for font in fonts if "mono" not in font] == []
    printed = page.pdf(format="A4")
    photograph(page, "gallery-print", full_page=True)
    page.close()
    assert printed.startswith(b"%PDF")


def _is_here(route: Any) -> bool:
    return str(route.request.url).startswith(("file:", "data:"))
