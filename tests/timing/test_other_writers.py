"""Code is timed while a thread of the user's writes: what that wrote stays, and is told."""

import sys

import pytest

from tests.shell import Shell

SERVER = """
import threading, queue
asked, answered, hits, served = queue.Queue(), queue.Queue(), {"n": 0}, [0]
def serve():
    while asked.get():
        hits["n"] += 1
        served[0] += 1
        answered.put(1)
server = threading.Thread(target=serve, name="server", daemon=True)
server.start()
def ask():
    asked.put(1)
    return answered.get()
"""
END = "asked.put(0); server.join()"


TIMED = ("found = %fwtime -q -n5 -r2 ask(); sum(hits.values())", "found")
ARMS = "a: ask(); sum(hits.values())\nb: ask(); hits['n']"
COMPARED = (f"%%fwcompare -q -v found -n 5\n{ARMS}", "found['a']")


@pytest.mark.parametrize(("cell", "measured"), [TIMED, COMPARED])
def test_nothing_that_a_thread_writes_is_lost(shell: Shell, cell: str, measured: str) -> None:
    shell.run(SERVER)
    shell.run(cell)
    shell.run(END)
    hits, served = shell.names["hits"], shell.names["served"]
    assert hits["n"] == served[0] >= 10
    notes = eval(measured, shell.names).notes
    (told,) = [each.text for each in notes if each.code == "changed-meanwhile"]
    assert told.startswith("Not restored, or what thread 'server' wrote would be lost: ")
    assert {*told.split(": ")[1].strip(".").split(", ")} >= {"hits", "served"}
    assert not [each for each in notes if each.code in ("put-back", "state-advanced")]


def test_what_the_code_alone_changes_is_put_back_beside_a_thread(shell: Shell) -> None:
    shell.run(SERVER + "own = []")
    shell.run("found = %fwtime -q -n5 -r2 own.append(1)")
    shell.run(END)
    found = shell.names["found"]
    assert shell.names["own"] == [1]
    assert {"put-back"} == {each.code for each in found.notes} & {"put-back", "changed-meanwhile"}


LISTENER = """
import threading
class Listener(threading.Thread):
    def run(self):
        ready.set(); end.wait()
ready, end, own = threading.Event(), threading.Event(), []
listener = Listener(); listener.start(); ready.wait()
def note(): own.append(1); return listener
"""


def test_a_thread_does_not_reach_all_names_through_the_shell(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each keeps the hook for exceptions, which may be the shell's."""
    monkeypatch.setattr(sys, "excepthook", shell.shell.excepthook)
    shell.run(LISTENER)
    shell.run("%fwtime -q -n5 -r2 note()")
    shell.run("end.set(); listener.join()")
    assert shell.names["own"] == [1]


BINDER = """
import threading
ready, end, total = threading.Event(), threading.Event(), 0
def bind():
    global total
    ready.set(); end.wait(); total += 1000
binder = threading.Thread(target=bind, name="binder"); binder.start(); ready.wait()
"""


def test_a_name_that_a_thread_binds_too_is_not_set_back_between_calls(shell: Shell) -> None:
    shell.run(BINDER)
    shell.run("found = %fwtime -q -n1 -r5 total = total + 1")
    shell.run("end.set(); binder.join()")
    assert shell.names["total"] == 1005
    (told,) = [each.text for each in shell.names["found"].notes if "binder" in each.text]
    assert "total" in told
