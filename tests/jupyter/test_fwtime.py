"""`%fwtime` in a real IPython shell."""

import dataclasses
import sys

import pytest
from IPython.core.error import UsageError

from ipyjaxbench.jupyter.session import Session
from ipyjaxbench.reports.result import MIME
from ipyjaxbench.timing import notes
from ipyjaxbench.timing.validity import notes as validity_notes
from tests.bench import recorder
from tests.results import measured
from tests.shell import Shell


def test_an_old_option_works_and_one_line_gives_the_new_one_once(shell: Shell) -> None:
    shell.shell.magics_manager.registry["FrameworkMagics"].session.warned_renames.clear()
    line = "--device is now --profile. The old name still works, until version 0.3."
    for told in ([line], []):
        shell.run("%fwtime -n 1 -r 1 --device sum(range(10))")
        assert [output.data["text/plain"] for output in shell.shown][1:] == told


def test_the_first_line_of_a_cell_is_untimed_set_up(shell: Shell) -> None:
    shell.names["note"], ran = recorder()
    shell.run("%%fwtime -n 2 -r 3 -q -v r z = note(1)\nlen('')")
    assert shell.names["r"].repeat == 3
    assert len(ran) == 3  # before each sample, as %%timeit does


def test_code_is_kept_byte_for_byte(shell: Shell) -> None:
    shell.names.update(x=3, n=2, f=lambda a, b: (a, b))
    for code, value in {
        "y = f(-x, {n})": (-3, {2}),
        "y = f'{x}', '$x', 'a  b'": ("3", "$x", "a  b"),
        "y = x;": 3,
        "y = '--budget'": "--budget",
    }.items():
        shell.run(f"%fwtime -n1 -r1 -q {code}")
        assert shell.names["y"] == value


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="there the function has the names")
def test_names_that_a_function_does_not_get_are_told(shell: Shell) -> None:
    shell.run(
        "def f(z):\n"
        "    r = %fwtime -q -o -n 1 -r 2 y = z\n"
        "    s = %fwtime -q -o -n 1 -r 2 z + 1\n"
        "    return r, s\n"
        "r, s = f(4)\n"
        "%fwtime -q -v t -n 1 -r 2 y = 1"
    )
    told = ["names-stay-inside" in {n.code for n in shell.names[m].notes} for m in "rst"]
    assert told == [True, False, False]


def test_what_later_calls_print_and_display_is_not_shown(shell: Shell) -> None:
    shell.run(
        "from IPython.display import display\n%fwtime -n 3 -r 2 print('once'); display('seen')"
    )
    assert shell.text.count("once") == 1
    assert [output.data["text/plain"] for output in shell.shown[:-1]] == ["'seen'"]
    assert "output-hidden" in str(shell.shown[-1].data[MIME])


def test_what_holds_for_all_reports_is_told_once_in_a_session(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    noisy = measured([1000 + 700 * (i % 2) for i in range(60)])
    warm, longer = validity_notes.warm_cpu_cache(8 * 2**20, 2**25), notes.needs_longer(0.4, 0.02, 2)
    noisy = dataclasses.replace(noisy, notes=(longer, warm))
    session = Session(shell.shell)
    assert session.advise_once(noisy).notes == (longer, warm)
    assert session.advise_once(noisy).notes == (dataclasses.replace(longer, advice=""),)
    monkeypatch.setattr("ipyjaxbench.jupyter.fwtime._measure", lambda *_: (noisy, None))
    shell.run("%fwtime 1\n%fwtime 1")
    shown = str(shell.shown[1].data["text/plain"])
    assert "the 95 % CI of the median is ±40 %" in shown
    assert "quieter machine" not in shown


ERRORS = {
    "%fwtime": "there is no code to time; give a statement such as f(x)",
    "%%fwtime\n  ": "there is no code to time; give a statement such as f(x)",
    "%fwtime --buget 3 x": "unknown option --buget. Did you mean --budget?"
    " (If it is code, type -- in front of it.)",
    "1\n%fwtime f(": "SyntaxError in line 2, 'f(': '(' was never closed",
    "%%fwtime\nx = 1\nreturn x": "SyntaxError in line 3, 'return x': 'return' outside function",
    "%fwtime -v 1x 2": "-v 1x: must be a valid variable name, for example -v result",
}


@pytest.mark.parametrize("cell", ERRORS)
def test_bad_input_gets_one_line_that_says_what_to_type(shell: Shell, cell: str) -> None:
    before = dict(shell.names)
    with pytest.raises(UsageError):
        shell.run(cell)
    assert shell.text.strip() == f"UsageError: {ERRORS[cell]}"
    assert {k: v for k, v in shell.names.items() if k in before} == before


def test_ast_transformers_of_the_user_are_applied(shell: Shell) -> None:
    import ast

    class Double(ast.NodeTransformer):
        def visit_Constant(self, node: ast.Constant) -> ast.Constant:
            return ast.copy_location(ast.Constant(8 if node.value == 4 else node.value), node)

    transformer = Double()
    shell.shell.ast_transformers.append(transformer)
    try:
        shell.run("get_ipython().run_line_magic('fwtime', '-n1 -r1 -q y = 4')")
    finally:
        shell.shell.ast_transformers.remove(transformer)
    assert shell.names["y"] != 4


def test_future_imports_of_earlier_cells_hold(shell: Shell) -> None:
    flags = shell.shell.compile.flags
    try:
        shell.run("from __future__ import annotations")
        shell.run("%%fwtime -n1 -r1 -q\ndef f(x: unknown): pass")
        assert shell.names["f"].__annotations__ == {"x": "unknown"}
    finally:
        shell.shell.compile.flags = flags


def test_libraries_that_the_code_uses_are_named_with_their_versions(shell: Shell) -> None:
    pandas = pytest.importorskip("pandas")
    shell.run("import pandas as pd\nframe = pd.DataFrame({'a': [1]})")
    shell.run("def f(): return pd.concat([frame])\ndef g(): return 1")
    for code, told in {"frame.a.sum()": True, "f()": True, "g()": False}.items():
        shell.run(f"%fwtime -q -v r -n1 -r2 {code}")
        assert shell.names["r"].frameworks.get("pandas") == (pandas.__version__ if told else None)
        assert (f"pandas {pandas.__version__}" in str(shell.names["r"])) is told
