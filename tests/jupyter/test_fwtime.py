"""`%fwtime` and ``%%fwtime --loop`` in a real IPython shell."""

import dataclasses
import re
import sys

import pytest
from IPython.core.error import UsageError

from ipyjaxbench import LoopTimes
from ipyjaxbench.jupyter.session import Session
from ipyjaxbench.reports.result import MIME
from ipyjaxbench.timing import notes
from ipyjaxbench.timing.validity import notes as validity_notes
from tests.bench import recorder
from tests.jupyter.kernel import Kernel
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


@pytest.mark.parametrize(
    "code",
    ["%time x.append(3)\n2", "%%time\nx.append(3)", "%timeit -n1 -r1 -q x.append(3)",
     "%%capture\nif 1:\n    t = %time x.append(3)"],
)  # fmt: skip
def test_a_list_that_a_nested_magic_fills_is_put_back(shell: Shell, code: str) -> None:
    shell.names["x"] = x = [1]
    found = shell.run(f"%%fwtime -o -q -n 3 -r 2\n{code}\n")
    assert x == [1, 3]
    assert "put-back" in {note.code for note in found.notes}


def test_an_iterator_behind_a_nested_magic_is_told(shell: Shell) -> None:
    shell.names.update(x=[1], z=iter(range(1000)))
    found = shell.run("%%fwtime -o -q -n 3 -r 2\n%time x = x + [2]\n%time next(z)\n")
    assert shell.names["x"] == [1, 2]  # a name that it binds is set back
    (note,) = [note for note in found.notes if note.code == "state-advanced"]
    assert note.text.startswith("'z' advanced by 6 calls")


LOOP = "for i in range(9):\n    total = i\n"


def test_the_cell_runs_once_its_names_stay_and_a_line_chooses_the_loop(shell: Shell) -> None:
    shell.names["seen"] = []
    cell = (
        "\n\nimport asyncio\nfor e in range(4):\n    for i in range(3):\n        seen.append(i)\n"
    )
    cell += "await asyncio.sleep(0)"
    for number, (option, line, count) in enumerate((("", 6, 12), ("--line 5", 5, 4)), 1):
        result = shell.run(f"%%fwtime --loop -o {option}\n{cell}")
        assert type(result) is LoopTimes
        assert (result.line, result.count) == (line, count)
        assert (shell.names["seen"], shell.names["i"]) == ([0, 1, 2] * 4 * number, 2)
    texts = ["for e in range(4):", "for i in range(3):", "seen.append(i)"]
    assert [(each.line, each.text) for each in result.lines] == [*enumerate(texts, 5)]


@pytest.mark.parametrize(("typed", "words"), [
    ("%fwtime --loop abs(3)", "write %%fwtime --loop above it"),
    ("%fwtime --line 3 abs(3)", "--line 3 needs --loop: %%fwtime --loop --line 3"),
    (f"%%fwtime --loop --line 40\n{LOOP}", "--line 40 is in no for loop"),
    (f"%%fwtime --loop -n 3\n{LOOP}", "--loop and -n cannot be combined"),
    (f"%%fwtime --loop x = 3\n{LOOP}", "'x = 3' is not an option"),
    ("%%fwtime --loop\nfor i in range(3) pass", "SyntaxError in line 2"),
])  # fmt: skip
def test_what_makes_no_sense_gets_one_line(shell: Shell, typed: str, words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)) as raised:
        shell.run(typed)
    assert len(str(raised.value).splitlines()) == 1
    assert "total" not in shell.names


def test_an_error_is_raised_after_what_was_measured_is_shown(shell: Shell) -> None:
    with pytest.raises(ZeroDivisionError):
        shell.run("%%fwtime --loop -v r\nfor i in range(9):\n    b = 6 / (5 - i)\n")
    assert shell.names["i"] == 5
    assert shell.names["r"].count == 5
    assert "after 5 whole steps" in " ".join(shell.shown[-1].data["text/plain"].split())
    assert "-> 3     b = 6 / (5 - i)" in shell.text  # older IPythons name no line
    assert "steps/" not in shell.text  # no frame of ours


def test_a_kernel_is_interrupted_in_an_endless_loop(kernel: Kernel) -> None:
    cell = "%%fwtime --loop -v r\nimport itertools, time\nfor i in itertools.count():\n"
    cell += "    if i == 3: print('be' + 'gun', flush=True)\n    time.sleep(0.01)\n"
    shown = kernel.run(cell, interrupt_after="begun")
    assert (shown.status, shown.error) == ("error", "KeyboardInterrupt")
    result = LoopTimes.from_dict(shown.results[-1][MIME])
    assert result.count >= 3
    assert result.notes[0].code == "loop-stopped"
    assert kernel.run("print(r.count == i, i >= 3)").text == "True True\n"
