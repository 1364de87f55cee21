"""`%fwtime` in a real IPython shell."""

import dataclasses
import itertools
import re
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from IPython.core.error import UsageError
from IPython.core.oinspect import getdoc

from ipyjaxbench import Measurement
from ipyjaxbench.device import Peaks
from ipyjaxbench.jupyter.session import Session
from ipyjaxbench.reports.result import MIME
from ipyjaxbench.timing import notes
from ipyjaxbench.timing.validity import notes as validity_notes
from tests.bench import recorder
from tests.results import STEADY, measured
from tests.shell import Shell

QUICK = "-b 0.02"


def test_a_line_is_timed_and_shown_once_in_three_forms(shell: Shell) -> None:
    assert shell.run(f"%fwtime {QUICK} sum(range(10))") is None
    (output,) = shell.shown
    assert set(output.data) == {"text/plain", "text/html", MIME}
    assert output.data["text/plain"].startswith("sum(range(10))")
    assert Measurement.from_dict(output.data[MIME]).code == "sum(range(10))"


@pytest.mark.parametrize("option", ["--profile", "--ops"])
def test_what_devices_did_is_told_where_that_is_asked_for(shell: Shell, option: str) -> None:
    shell.run(f"%fwtime {QUICK} {option} sum(range(10))")
    (output,) = shell.shown
    line = "\ndevice          unknown for python: there is no profiler for it\n"
    assert line in output.data["text/plain"]


@pytest.mark.parametrize(
    ("code", "old", "new"),
    [
        ("%fwtime -n 1 -r 1 --device sum(range(10))", "--device", "--profile"),
        ("%%fwtime -n 1 -r 1 --device\nsum(range(10))", "--device", "--profile"),
        ("%trace_cached --history", "--history", "--signatures"),
        ("%fwdevices --peak --fresh", "--fresh", "--remeasure"),
    ],
)
def test_an_old_option_works_and_one_line_gives_the_new_one_once(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, code: str, old: str, new: str
) -> None:
    shell.shell.magics_manager.registry["FrameworkMagics"].session.warned_renames.clear()
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


def test_names_that_the_code_binds_are_there_afterwards(shell: Shell) -> None:
    shell.run(f"x = 4\n%fwtime {QUICK} y = x + 1\nz = y * 2")
    assert (shell.names["y"], shell.names["z"]) == (5, 10)


def test_a_name_that_is_read_and_bound_holds_what_one_run_gives(shell: Shell) -> None:
    shell.run(f"x = 1\n%fwtime {QUICK} x = x + 1")
    assert shell.names["x"] == 2


def test_a_cell_is_timed_as_a_whole(shell: Shell) -> None:
    shell.run(
        f"%%fwtime {QUICK}\na = 1\nfor i in range(3):\n    a += i\ndef g():\n    return a\ng()"
    )
    assert (shell.names["a"], shell.names["i"], shell.names["g"]()) == (4, 2, 4)


def test_the_first_line_of_a_cell_is_untimed_set_up(shell: Shell) -> None:
    shell.names["note"], ran = recorder()
    shell.run("%%fwtime -n 2 -r 3 -q -v r z = note(1)\nlen('')")
    assert shell.names["r"].repeat == 3
    assert len(ran) == 3  # before each sample, as %%timeit does


def test_nothing_is_returned_unless_asked_for(shell: Shell) -> None:
    assert shell.run("%fwtime -q -n1 -r1 1 + 1") is None
    assert shell.shown == []
    assert isinstance(shell.run("%fwtime -q -o -n1 -r1 1 + 1"), Measurement)


@pytest.mark.parametrize(
    "cell",
    [
        "r = %fwtime -q -n 2 -r 2 1 + 1",
        "%fwtime -q -v r -n 2 -r 2 1 + 1",
        "for _ in range(2):\n    r = %fwtime -q -n 2 -r 2 1 + 1",
        "import contextlib\nwith contextlib.suppress(KeyError):\n    r = %fwtime -q -n2 -r2 1 + 1",
        "%%fwtime -q -v r -n 2 -r 2\n1 + 1",
        "r = get_ipython().run_line_magic('fwtime', '-q -n 2 -r 2 1 + 1')",
    ],
)
def test_an_assigned_result_is_the_object(shell: Shell, cell: str) -> None:
    shell.run(cell)
    assert len(shell.names["r"].all_runs) == 2


def test_in_a_loop_each_is_shown(shell: Shell) -> None:
    shell.run("for n in (1, 2):\n    %fwtime -n1 -r1 n + 1")
    assert len(shell.shown) == 2


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("y = -x + 1", -2),
        ("y = f(x, -n)", (3, -2)),
        ('y = "a  b"', "a  b"),
        ("y = {x}", {3}),
        ("y = f'{x}'", "3"),
        ("y = '$x'", "$x"),
        ("y = 1; y += x", 4),
        ("y = x;", 3),
        ("y = '--budget'", "--budget"),
    ],
)
def test_code_is_kept_byte_for_byte(shell: Shell, code: str, value: object) -> None:
    shell.names.update(x=3, n=2, f=lambda a, b: (a, b))
    shell.run(f"%fwtime -n1 -r1 -q {code}")
    assert shell.names["y"] == value


def test_code_that_starts_with_a_dash_is_code(shell: Shell) -> None:
    shell.names["x"] = 3
    assert shell.run("%fwtime -n1 -r1 -q -o -x + 1").code == "-x + 1"
    assert shell.run("%fwtime -o -q -n1 -r1 -- -1").code == "-1"


def test_multi_line_strings_in_a_cell_are_not_changed(shell: Shell) -> None:
    shell.run('%%fwtime -n1 -r1 -q\ns = """\n  two\n    four"""')
    assert shell.names["s"] == "\n  two\n    four"


def test_system_commands_and_magics_work_inside_a_cell(shell: Shell) -> None:
    shell.run("%%fwtime -n1 -r1 -q\nout = %sx echo hello\n!true\n%precision 3\n%precision")
    assert list(shell.names["out"]) == ["hello"]


def test_exact_counts_mean_exactly_so_many_calls(shell: Shell) -> None:
    note, calls = recorder()
    shell.names["f"] = lambda: note(1)
    for options, expected in (("-n1 -r1", 1), ("-n 3 -r 4", 12), ("-n 5", 35)):
        calls.clear()
        shell.run(f"%fwtime -q {options} f()")
        assert len(calls) == expected


def test_inside_a_function_its_own_names_are_seen_and_nothing_leaks(shell: Shell) -> None:
    shell.run(
        "w = 'global'\n"
        "def g():\n"
        "    return w\n"
        "def f(z):\n"
        "    w = z * 2\n"
        "    r = %fwtime -q -o -n 2 -r 2 local = [w for _ in range(2)] + [g()]\n"
        "    return r\n"
        "r = f(4)"
    )
    assert shell.names["r"].code == "local = [w for _ in range(2)] + [g()]"
    assert shell.names["w"] == "global"
    assert "local" not in shell.names
    assert "z" not in shell.names


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


def test_an_error_stops_the_cell_and_shows_the_users_line(shell: Shell) -> None:
    with pytest.raises(ZeroDivisionError):
        shell.run("x = 1\n\n%fwtime x / 0\nafter = 1")
    assert "after" not in shell.names
    assert "----> 3 x / 0" in shell.text
    assert "timer.py" not in shell.text


def test_an_error_in_a_cell_shows_the_line_of_the_editor(shell: Shell) -> None:
    with pytest.raises(ZeroDivisionError):
        shell.run("%%fwtime\nx = 1\nfor i in (1, 0):\n    x / i")
    assert "----> 4     x / i" in shell.text


def test_after_an_error_in_the_first_call_names_are_as_before(shell: Shell) -> None:
    shell.names["x"] = 1
    with pytest.raises(ZeroDivisionError):
        shell.run("%fwtime x = 5; new = 6; 1 / 0")
    assert shell.names["x"] == 1
    assert "new" not in shell.names


def test_an_error_in_a_later_call_is_a_note(shell: Shell) -> None:
    shell.names["it"] = iter(range(1000))
    result = shell.run("%fwtime -o -q -n 300 y = next(it)")
    (note,) = [note for note in result.notes if note.code == "stopped-by-error"]
    assert note.text == "Call 1,001 raised StopIteration. The time is of the calls before it."
    assert shell.names["y"] == 0


@pytest.mark.parametrize("calls", [2, 10, 11, 12, 13, 60, 130])
def test_an_iterator_may_end_in_any_part_of_a_measurement(shell: Shell, calls: int) -> None:
    iterator_ends(shell, calls)


@pytest.mark.usefixtures("real_clock")
def test_an_iterator_may_end_in_a_sample_of_many_calls(shell: Shell) -> None:
    iterator_ends(shell, 20_000)


def iterator_ends(shell: Shell, calls: int) -> None:
    shell.names["it"] = iter(range(calls))
    result = shell.run("%fwtime -o -q next(it)")
    (note,) = [note for note in result.notes if note.code == "stopped-by-error"]
    assert note.text.startswith(f"Call {calls + 1:,} raised StopIteration.")


def test_what_later_calls_print_and_display_is_not_shown(shell: Shell) -> None:
    shell.run(
        "from IPython.display import display\n%fwtime -n 3 -r 2 print('once'); display('seen')"
    )
    assert shell.text.count("once") == 1
    assert [output.data["text/plain"] for output in shell.shown[:-1]] == ["'seen'"]
    assert "output-hidden" in str(shell.shown[-1].data[MIME])


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        ("x = pool.submit(sum, [1])", "x = pool.submit(sum, [1]).result()"),
        ("pool.submit(sum, [1])", "pool.submit(sum, [1]).result()"),
        ("x = map(abs, [1])", "x = list(map(abs, [1]))"),
    ],
)
def test_work_that_is_done_later_is_told(shell: Shell, code: str, advice: str) -> None:
    with ThreadPoolExecutor(1) as shell.names["pool"]:
        result = shell.run(f"%fwtime -o -q -n 2 -r 2 {code}")
        done = shell.run(f"%fwtime -o -q -n 2 -r 2 {advice}")
    assert [note.advice for note in result.notes if note.code == "lazy"] == [advice]
    assert not [note for note in done.notes if note.code == "lazy"]


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


def test_the_object_works_where_that_of_timeit_does(shell: Shell) -> None:
    ours = shell.run("%fwtime -o -q -n 4 -r 3 sum(range(50))")
    theirs = shell.run("%timeit -o -q -n 4 -r 3 sum(range(50))")
    for name in ("loops", "repeat"):
        assert getattr(ours, name) == getattr(theirs, name)
    for name in ("all_runs", "timings"):
        assert len(getattr(ours, name)) == len(getattr(theirs, name))
    for name in ("best", "worst", "average", "stdev", "compile_time"):
        assert type(getattr(ours, name)) is type(getattr(theirs, name))


@pytest.mark.usefixtures("real_clock")
def test_cpu_time_leaves_waiting_out(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.names["time"] = time
    spent = itertools.count(0, 1_000_000)  # nanoseconds; a millisecond at each reading
    monkeypatch.setattr("ipyjaxbench.host.clock._cpu_ns", lambda: next(spent))
    slept = shell.run("%fwtime -o -q -c -n 1 -r 3 time.sleep(0.05)")
    assert slept.samples == pytest.approx([1e-3] * 2)
    assert shell.run("%fwtime -o -q -t -n 1 -r 3 time.sleep(0.05)").median >= 0.045


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


def test_precision_sets_the_digits_shown(shell: Shell) -> None:
    result = shell.run("%fwtime -o -q -p 5 -n 10 -r 3 sum(range(50))")
    figure = re.search(r"([\d.]+) [nµm]s", str(result))[1]
    assert len(figure.replace(".", "").lstrip("0")) == 5


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


def test_a_function_that_was_not_called_is_told(shell: Shell) -> None:
    shell.names["f"] = len
    assert "f is a function, but it is not called" in str(shell.run("%fwtime -o -q -n 9 f"))


def test_options_stand_in_the_help(shell: Shell) -> None:
    text = getdoc(shell.shell.find_line_magic("fwtime")) or ""
    assert text.startswith("Time code correctly")
    for flag in ("-n", "-r", "-b", "-p", "-q", "-o", "-v", "-t", "-c", "--budget"):
        assert f" {flag}" in text


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


def test_numpy_code_names_its_arrays(shell: Shell) -> None:
    shell.names.update(np=np, a=np.ones((3, 4), np.float32))
    result = shell.run(f"%fwtime {QUICK} -o -q y = np.dot(a, a.T)")
    assert "a f32[3,4] cpu → y f32[3,3] cpu" in str(result)
    assert result.frameworks == {"numpy": np.__version__}


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


def test_modules_and_readers_are_not_taken_for_state(shell: Shell) -> None:
    shell.names.update(np=np, x=np.ones(5), rows=iter(range(3)))
    for code in ("np.sort(x)", "rows.__class__"):
        assert shell.run(f"%fwtime -q -o -n 2000 -r 3 {code}").notes == ()


def test_what_the_set_up_makes_anew_did_not_advance(shell: Shell) -> None:
    result = shell.run("%%fwtime -q -o -n 1 -r 5 data = [3, 2, 1] * 999\ndata.sort()")
    assert result.notes == ()


def test_an_error_that_cannot_show_itself_is_still_told(shell: Shell) -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    turns = iter([None, None, Mute()])

    def f() -> None:
        error = next(turns)
        if error:
            raise error

    shell.names["f"] = f
    result = shell.run("%fwtime -q -o -n 1 -r 5 f()")
    assert "Call 3 raised Mute." in result.notes[0].text


def test_the_extension_can_be_unloaded_and_loaded_again(shell: Shell) -> None:
    shell.run("%unload_ext ipyjaxbench")
    assert shell.shell.find_line_magic("fwtime") is None
    shell.run("%load_ext ipyjaxbench")
    assert shell.shell.find_line_magic("fwtime") is not None


def test_a_cell_that_begins_with_a_definition_is_headed_by_what_was_timed(shell: Shell) -> None:
    shell.run("%%fwtime -n1 -r1\nimport math\ndef f(x):\n    return math.sqrt(x)\n\nf(4)")
    assert shell.shown[0].data["text/plain"].startswith("… f(4) ")


def test_libraries_that_the_code_uses_are_named_with_their_versions(shell: Shell) -> None:
    pandas = pytest.importorskip("pandas")
    shell.run("import pandas as pd\nframe = pd.DataFrame({'a': [1]})")
    shell.run("def f(): return pd.concat([frame])\ndef g(): return 1")
    versions = {"frame.a.sum()": True, "f()": True, "pd.Series([1])": True, "g()": False}
    for code, is_used in versions.items():
        shell.run(f"%fwtime -q -v r -n1 -r2 {code}")
        assert shell.names["r"].frameworks.get("pandas") == (
            pandas.__version__ if is_used else None
        )
        assert (f"pandas {pandas.__version__}" in str(shell.names["r"])) is is_used
