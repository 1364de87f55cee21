"""What calls send through sockets, pipes and descriptors cannot be undone: it is told by name."""

import sys

import pytest

from tests.left import Cell, check_left
from tests.shell import Shell

PAIR, CLOSE = "import socket; s, t = socket.socketpair()", "s.close(); t.close()"
TCP = (
    "import socket; l = socket.create_server(('127.0.0.1', 0));"
    " s = socket.create_connection(l.getsockname()); t, _ = l.accept()"
)
UDP = (
    "import socket; s, t = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2));"
    " t.bind(('127.0.0.1', 0)); where = t.getsockname()"
)
QUEUE = "import multiprocessing as mp; q = mp.SimpleQueue()"
ONE_WAY = "import multiprocessing as mp; a, b = mp.Pipe(duplex=False)"
PIPE, SHUT = "import os; r, w = os.pipe()", "os.close(r); os.close(w)"

CELLS = {
    "sent": Cell(PAIR, "s.send(b'x')", "0", CLOSE, told="s"),
    "received": Cell(f"{PAIR}; t.send(bytes(99))", "s.recv(1)", "0", CLOSE, told="s"),
    "sent and received": Cell(PAIR, "s.send(b'x'); t.recv(1)", "0", CLOSE),
    "asked": Cell(f"{PAIR}; t.send(b'x')", "s.fileno()", "0", CLOSE),
    "by TCP": Cell(TCP, "s.sendall(b'x')", "0", f"{CLOSE}; l.close()", told="s"),
    "its address": Cell(TCP, "s.getpeername()", "0", f"{CLOSE}; l.close()"),
    "a file of a socket": Cell(f"{TCP}; f = s.makefile('w')", "print('x', file=f, flush=True)", "0",
                               f"{CLOSE}; l.close()", told="f"),
    "by UDP": Cell(UDP, "s.sendto(b'x', where)", "0", CLOSE, told="s"),
    "its own address": Cell(UDP, "t.getsockname()", "0", CLOSE),
    "a queue of pipes": Cell(QUEUE, "q.put(1)", "0", "q.close()", told="q"),
    "whether it is empty": Cell(f"{QUEUE}; q.put(1)", "q.empty()", "0", "q.close()"),
    "a pipe between processes": Cell("import multiprocessing as mp; a, b = mp.Pipe()", "a.send(1)",
                                     "0", "a.close(); b.close()", told="a"),
    "one in one direction": Cell(ONE_WAY, "b.send(1)", "0", "a.close(); b.close()", told="b"),
    "whether something waits": Cell(f"{ONE_WAY}; b.send(1)", "a.poll()", "0",
                                    "a.close(); b.close()"),
    "os.write": Cell(PIPE, "os.write(w, b'x')", "0", SHUT, told="w"),
    "os.write and os.read": Cell(PIPE, "os.write(w, b'x'); os.read(r, 1)", "0", SHUT),
    "os.write to a file": Cell("import os, tempfile; f = tempfile.TemporaryFile(); n = f.fileno()",
                               "os.write(n, b'x')", "0", "f.close()", told="n"),
    "a file of a pipe": Cell(f"{PIPE}; f = open(w, 'w', closefd=False)",
                             "print('x', file=f, flush=True)", "0", f"f.close(); {SHUT}", told="f"),
    "to a child": Cell(
        "import subprocess as sp, sys;"
        " p = sp.Popen([sys.executable, '-c', 'import time; time.sleep(99)'], stdin=sp.PIPE)",
        "p.stdin.write(b'x'); p.stdin.flush()", "0", "p.kill(); p.communicate()", told="p"),
}  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what waits in all of these")
@pytest.mark.parametrize("name", CELLS)
def test_what_calls_send_is_told(shell: Shell, name: str) -> None:
    check_left(shell, CELLS[name])
