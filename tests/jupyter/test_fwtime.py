"""`%fwtime` in a real IPython shell."""

import dataclasses
import sys
import threading

import numpy as np
import pytest
from IPython.core.error import UsageError

from ipyjaxbench.device import Peaks
from ipyjaxbench.jupyter.session import Session
from ipyjaxbench.reports.result import MIME
from ipyjaxbench.timing import notes
from ipyjaxbench.timing.validity import notes as validity_notes
from tests.bench import recorder
from tests.results import STEADY, measured
from tests.shell import Shell

QUICK = "-b 0.02"


@pytest.mark.parametrize(
    ("code", "old", "new"),
    [
        ("%%fwtime -n 1 -r 1 --device\nsum(range(10))", "--device", "--profile"),
        ("%trace_cached --history", "--history", "--signatures"),
        ("%fwdevices --peak --fresh", "--fresh", "--remeasure"),
    ],
)
def test_an_old_option_works_and_one_line_gives_the_new_one_once(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, code: str, old: str, new: str
) -> None:
    magic = code.split()[0].lstrip("%")
    monkeypatch.setattr(f"ipyjaxbench.jupyter.{magic}.collect_peaks", fast, raising=False)
    line = f"{old} is now {new}. The old name still works, until version 0.3."
    shell.run(code)
    assert [output.data["text/plain"] for output in shell.shown][1:] == [line]
    shell.run(code)
    assert line not in [output.data["text/plain"] for output in shell.shown]


def fast(**_: bool) -> Peaks:
    """Measure nothing, since this is about what is told."""
    return Peaks((), 0.0)


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


def test_measurements_of_threads_at_once_leave_the_display_as_it_was(shell: Shell) -> None:
    publisher = shell.shell.display_pub
    later, ended = threading.Event(), threading.Event()
    calls = {"first": iter([None, later.wait]), "last": iter([None, later.set, ended.wait])}

    def call(which: str) -> None:
        todo = next(calls[which], None)
        if todo is not None:
            todo()

    def measure(which: str) -> None:
        shell.shell.run_line_magic("fwtime", f"-q -n 1 -r 3 call('{which}')")

    shell.names["call"] = call
    first, last = (threading.Thread(target=measure, args=[which]) for which in calls)
    first.start()
    last.start()
    first.join(20)
    assert not first.is_alive()
    ended.set()
    last.join(20)
    assert shell.shell.display_pub is publisher


def test_advice_on_noise_is_given_once_in_a_session(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    noisy = measured([1000 + 700 * (i % 2) for i in range(60)])
    noisy = dataclasses.replace(noisy, notes=(notes.needs_longer(0.4, 0.02, 2.0),))
    monkeypatch.setattr("ipyjaxbench.jupyter.fwtime._measure", lambda *_: (noisy, None))
    session = Session(shell.shell)
    given = [session.advise_once(noisy).notes[0].advice != "" for _ in range(2)]
    assert given == [True, False]
    for _ in range(2):
        shell.run("%fwtime 1")
    shown = str(shell.shown[0].data["text/plain"])
    assert "the 95 % CI of the median is ±40 %" in shown
    assert "quieter machine" not in shown


def test_that_a_cpus_cache_keeps_data_is_told_once_in_a_session(shell: Shell) -> None:
    warm = validity_notes.warm_cpu_cache(8 * 2**20, 2**25)
    found = dataclasses.replace(measured(STEADY), notes=(warm,))
    session = Session(shell.shell)
    assert [session.advise_once(found).notes for _ in range(2)] == [(warm,), ()]


ERRORS = {
    "%fwtime": "there is no code to time; give a statement such as f(x)",
    "%%fwtime\n  ": "there is no code to time; give a statement such as f(x)",
    "%fwtime -n 0 x": "-n 0: must be a whole number, 1 or more, for example -n 5",
    "%fwtime -n x x": "-n x: must be a whole number, 1 or more, for example -n 5",
    "%fwtime -b -1 x": "-b -1: must be a number of seconds, 0 or more, for example -b 5",
    "%fwtime --buget 3 x": "unknown option --buget. Did you mean --budget?"
    " (If it is code, type -- in front of it.)",
    '%fwtime "f(x)"': '"f(x)" is a string, so nothing would be timed. Type it without quotes: f(x)',
    "%fwtime f(": "SyntaxError in line 1, 'f(': '(' was never closed",
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


def test_a_logger_that_is_set_up_in_the_code_goes_on_working(shell: Shell) -> None:
    import logging

    root = logging.getLogger()
    handlers, shell.names["logging"] = list(root.handlers), logging
    try:
        shell.run(
            "%fwtime -q -n 2 -r 3 logging.basicConfig(force=True)\nlogging.warning('still heard')"
        )
        assert "still heard" in shell.text
    finally:
        root.handlers[:] = handlers


def test_what_was_timed_is_told_and_what_was_not(shell: Shell) -> None:
    shell.run("%%fwtime -n1 -r1\nimport math\ndef f(x):\n    return math.sqrt(x)\n\nf(4)")
    assert shell.shown[0].data["text/plain"].startswith("… f(4) ")
    assert "f is a function, but it is not called" in str(shell.run("%fwtime -o -q -n 9 f"))
    shell.names.update(np=np, rows=iter(range(3)))
    for code in ("np.sort([2, 1])", "rows.__class__"):  # modules and readers are no state
        assert shell.run(f"%fwtime -q -o -n 2000 -r 3 {code}").notes == ()


def test_libraries_that_the_code_uses_are_named_with_their_versions(shell: Shell) -> None:
    pandas = pytest.importorskip("pandas")
    shell.run("import pandas as pd\nframe = pd.DataFrame({'a': [1]})")
    shell.run("def f(): return pd.concat([frame])\ndef g(): return 1")
    for code, told in {"frame.a.sum()": True, "f()": True, "g()": False}.items():
        shell.run(f"%fwtime -q -v r -n1 -r2 {code}")
        assert shell.names["r"].frameworks.get("pandas") == (pandas.__version__ if told else None)
        assert (f"pandas {pandas.__version__}" in str(shell.names["r"])) is told
