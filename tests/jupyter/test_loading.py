"""%load_ext, %reload_ext, %unload_ext; others with the same names; shells that lack something."""

import ast
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_magic, magics_class

import ipyjaxbench
from ipyjaxbench.errors import OptionError
from ipyjaxbench.retracing import TRACE_LOG, CacheMiss, Signature
from tests.bench import recorder
from tests.shell import Shell


@pytest.fixture(autouse=True)
def loaded_afterwards(shell: Shell) -> Iterator[None]:
    yield
    ipyjaxbench.unload_ipython_extension(shell.shell)
    shell.shell.extension_manager.loaded.discard("ipyjaxbench")
    shell.shell.extension_manager.load_extension("ipyjaxbench")


def registries(shell: InteractiveShell) -> dict[str, list[object]]:
    """All that an extension can enter into."""
    completer = shell.Completer
    return {
        "magics": sorted((k, n) for k, each in shell.magics_manager.magics.items() for n in each),
        "registry": sorted(shell.magics_manager.registry),
        "configurables": [*shell.configurables],
        "callbacks": [(n, *each) for n, each in shell.events.callbacks.items()],
        "transformers": [*shell.input_transformers_cleanup, *shell.input_transformers_post],
        "ast transformers": [*shell.ast_transformers],
        "hooks": [(name, str(getattr(hook, "chain", hook))) for name, hook in shell.hooks.items()],
        "dispatchers": [(n, str(d.strs), str(d.regexs)) for n, d in shell.strdispatchers.items()],
        "matchers": [*completer.custom_matchers, *getattr(completer, "magic_arg_matchers", ())],
    }


def test_unloading_leaves_nothing_registered(shell: Shell) -> None:
    with_it = registries(shell.shell)
    shell.run("%unload_ext ipyjaxbench")
    without = registries(shell.shell)
    assert not [name for kind, name in without["magics"] if name.startswith("fw")]
    assert with_it != without
    shell.run("%load_ext ipyjaxbench")
    assert (shell.shown, shell.text) == ([], "")
    shell.run("%fwtime -q -n1 -r1 1")
    shell.run("%unload_ext ipyjaxbench")
    assert registries(shell.shell) == without


def test_loading_again_registers_once(shell: Shell) -> None:
    before = registries(shell.shell)
    shell.run("%load_ext ipyjaxbench")
    ipyjaxbench.load_ipython_extension(shell.shell)
    assert registries(shell.shell) == before
    counts = {name: len(each) for name, each in before.items()}
    shell.run("%reload_ext ipyjaxbench\n%reload_ext ipyjaxbench")
    assert {name: len(each) for name, each in registries(shell.shell).items()} == counts
    shell.run("%fwtime -n1 -r1 1")
    assert len(shell.shown) == 1
    for _ in range(2):  # what is not loaded, too
        ipyjaxbench.unload_ipython_extension(shell.shell)
    assert shell.shell.find_line_magic("fwtime") is None


def test_what_was_traced_before_is_not_shown_after_loading(shell: Shell) -> None:
    session = shell.session
    shell.run("%reload_ext ipyjaxbench")
    assert not session.watcher.is_on
    session.settings.watch = True
    try:
        shell.run("%unload_ext ipyjaxbench")
        TRACE_LOG.record("fake", CacheMiss("unseen", Signature({}), placed=False))
        shell.run("%load_ext ipyjaxbench")
        assert (session.watcher.is_on, shell.text, shell.shown) == (True, "", [])
        shell.run("1")
        assert "unseen" not in shell.text
    finally:
        session.settings.watch = False


@magics_class
class FrameworkMagics(Magics):
    """Another extension, whose class happens to have the name of one of ours."""

    @line_magic
    def fwtime(self, line: str) -> str:
        return f"theirs: {line}"


@contextmanager
def theirs(shell: InteractiveShell) -> Iterator[FrameworkMagics]:
    """Registered, and taken out by their own extension."""
    other = FrameworkMagics(shell)
    shell.register_magics(other)
    yield other
    shell.configurables.remove(other)
    shell.magics_manager.magics["line"].pop("fwtime", None)
    shell.magics_manager.registry.pop("FrameworkMagics", None)


def test_a_magic_of_the_same_name_is_told_and_comes_back(shell: Shell) -> None:
    shell.run("%unload_ext ipyjaxbench")
    with theirs(shell.shell) as other:
        shell.run("%load_ext ipyjaxbench")
        (told,) = shell.shown
        assert told.data["text/plain"] == (
            f"ipyjaxbench replaces %fwtime of {__name__}. %unload_ext ipyjaxbench restores it."
        )
        assert shell.run("%fwtime -q -o -n1 -r1 1 + 1").code == "1 + 1"
        shell.run("%unload_ext ipyjaxbench")
        assert shell.run("%fwtime 1 + 1") == "theirs: 1 + 1"
        assert shell.shell.magics_manager.registry["FrameworkMagics"] is other


def test_a_magic_that_takes_our_name_later_stays_when_we_go(shell: Shell) -> None:
    with theirs(shell.shell) as other:
        shell.run("%unload_ext ipyjaxbench")
        assert shell.run("%fwtime x") == "theirs: x"
        assert shell.shell.magics_manager.registry["FrameworkMagics"] is other
        assert shell.shell.find_cell_magic("fwtime") is None


def test_what_is_no_shell_is_refused_in_one_line() -> None:
    with pytest.raises(OptionError, match=r"^load_ipython_extension needs an IPython shell, not"):
        ipyjaxbench.load_ipython_extension("shell")


class Broken(DisplayPublisher):
    """A display that does not work."""

    def publish(self, *_: object, **__: object) -> None:
        raise RuntimeError("there is no display")


def test_without_a_display_a_result_is_text(shell: Shell) -> None:
    note, calls = recorder()
    shell.names["f"] = lambda: note(1)
    done: list[Any] = []
    stream, before = io.StringIO(), (shell.shell.display_pub, sys.stdout)
    shell.shell.display_pub, sys.stdout = Broken(), stream
    try:
        done.append(shell.shell.run_cell("r = %fwtime -n 2 -r 3 f()\n%ipyjaxbench"))
    finally:
        shell.shell.display_pub, sys.stdout = before
    done[0].raise_error()
    assert len(calls) == 6
    assert "10.0 ms   median, per call, 3 samples" in stream.getvalue()
    assert "%fwdevices" in stream.getvalue()


def test_loading_and_unloading_import_no_room_below(tmp_path: Any) -> None:
    code = (
        "import sys; from IPython.core.interactiveshell import InteractiveShell as S;"
        " s = S.instance(); s.run_line_magic('load_ext', 'ipyjaxbench');"
        " s.run_line_magic('unload_ext', 'ipyjaxbench');"
        " print({m.split('.')[1] for m in sys.modules if m.startswith('ipyjaxbench.')})"
    )
    environment = {**os.environ, "IPYTHONDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert ast.literal_eval(done.stdout) == {"errors", "import_hook", "jupyter", "purposes"}


CELLS = (
    "%load_ext ipyjaxbench\nimport numpy as np\nx = np.ones((20, 30))\n%fwtime -b 0.02 x @ x.T",
    "%%fwcompare -b 0.1\nnumpy: x.sum()\na long label of an arm: x.mean()",
)


def test_a_narrow_terminal_without_unicode_shows_all(tmp_path: Any) -> None:
    code = "from IPython.core.interactiveshell import InteractiveShell as S; s = S.instance()\n"
    code += "\n".join(f"s.run_cell({cell!r}).raise_error()" for cell in CELLS)
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "40",
                   "IPYTHONDIR": str(tmp_path)}  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    text = done.stdout.decode("ascii")
    assert all(part in text for part in (" us", "x @ x.T", "a long label"))
    assert max(map(len, text.splitlines())) <= 40
