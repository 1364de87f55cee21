"""Registries and settings of Python's own library are as after one run of what was timed."""

import sys

import pytest

from tests.left import Cell, check_left
from tests.shell import Shell

H = "h = []"  # its length is another one in each call
ABC = "import abc; B, kept = abc.ABCMeta('B', (), {}), []"
NEW = "kept.append(type('T', (), {}));"  # a class that something holds
COUNT = "len(copyreg.dispatch_table) - len(was)"
LEVELS = "import logging; levels = dict(logging._levelToName)"
CODECS = "import codecs; f = lambda name: None"
THREAD = "import threading; t = threading.current_thread(); was = t.name; t.zz = []"
CALLED = """import os, signal; h = []
def note(*_): h.append(1)
_ = signal.signal(signal.SIGUSR1, note)"""

CELLS = {
    "abstract classes": Cell(ABC, f"{NEW} B.register(kept[-1])",
                             "issubclass(int, B), len(abc._get_dump(B)[0])"),
    "those of the library": Cell(
        f"{ABC}; import numbers; kept = []; was = len(abc._get_dump(numbers.Number)[0])",
        f"{NEW} numbers.Number.register(kept[-1])", "len(abc._get_dump(numbers.Number)[0]) - was",
        "kept.clear(); B = None; import gc; gc.collect()"),
    "singledispatch": Cell(
        "import functools; f = functools.singledispatch(lambda x: 0); kept = []",
        f"{NEW} f.register(kept[-1], len)", "len(f.registry)"),
    "copyreg": Cell("import copyreg; was = dict(copyreg.dispatch_table)",
                    "copyreg.pickle(type('T', (), {}), str)", COUNT,
                    "copyreg.dispatch_table.clear(); copyreg.dispatch_table.update(was)"),
    "in a function": Cell(
        "import copyreg; was = dict(copyreg.dispatch_table)\ndef f():"
        "\n    copyreg.pickle(type('T', (), {}), str)", "f()",
        COUNT,
        "copyreg.dispatch_table.clear(); copyreg.dispatch_table.update(was)"),
    "codecs": Cell(CODECS, "codecs.register(f)", "0", "codecs.unregister(f)",
                   told="codecs.register"),
    "errors of codecs": Cell(CODECS, "codecs.register_error('zz', f)", "0",
                             told="codecs.register_error"),
    "those in a function": Cell(f"{CODECS}\ndef g(): codecs.register_error('zz', f)", "g()", "0",
                                told="codecs.register_error"),
    "the environment of children": Cell(f"{H}; import os", "os.putenv('ZZ', str(len(h)))", "0",
                                        "os.unsetenv('ZZ')", told="os.putenv"),
    "attributes of a thread": Cell(THREAD, "threading.current_thread().zz.append(1)", "t.zz",
                                   "del t.zz"),
    "the name of a thread": Cell(THREAD, "threading.current_thread().name += 'x'", "t.name",
                                 "t.name = was"),
    "what a signal calls": Cell(CALLED, "os.kill(os.getpid(), signal.SIGUSR1)", "h",
                                "signal.signal(signal.SIGUSR1, signal.SIG_DFL)"),
    "mimetypes": Cell(f"{H}; import mimetypes; mimetypes.init()",
                      "h.append(0); mimetypes.add_type('a/b', f'.z{len(h)}')",
                      "mimetypes.guess_all_extensions('a/b')", "mimetypes.init()"),
    "adapters": Cell(f"{H}; import sqlite3; was = dict(sqlite3.converters)",
                     "h.append(0); sqlite3.register_converter(f'T{len(h)}', str)",
                     "len(sqlite3.converters) - len(was)",
                     "sqlite3.converters.clear(); sqlite3.converters.update(was)"),
    "levels": Cell(LEVELS, "logging.addLevelName(60 + len(logging._levelToName), 'ZZ')",
                   "len(logging._levelToName) - len(levels)",
                   "logging._levelToName.clear(); logging._levelToName.update(levels);"
                   " logging._nameToLevel.pop('ZZ')"),
    "a class of loggers": Cell(
        f"{H}; import logging", "h.append(type('L', (logging.Logger,), {'n': len(h)}));"
        " logging.setLoggerClass(h[-1])", "logging.getLoggerClass().n",
        "logging.setLoggerClass(logging.Logger)"),
    "warnings to loggers": Cell(
        "import logging", "logging.captureWarnings(logging._warnings_showwarning is None)",
        "logging._warnings_showwarning is None", "logging.captureWarnings(False)"),
    "an opener": Cell(f"{H}; import urllib.request",
                      "h.append(0); urllib.request.install_opener(len(h))",
                      "urllib.request._opener", "urllib.request.install_opener(None)"),
    "archives": Cell(f"{H}; import shutil; was = dict(shutil._ARCHIVE_FORMATS)",
                     "h.append(0); shutil.register_archive_format(f'z{len(h)}', print)",
                     "len(shutil.get_archive_formats()) - len(was)",
                     "shutil.unregister_archive_format('z1')"),
    "traces of threads": Cell(
        "import threading",
        "threading.settrace(None if threading.gettrace() else (lambda *_: None))",
        "threading.gettrace() is None", "threading.settrace(None)"),
    "stacks of threads": Cell(
        "import threading; size = threading.stack_size(); _ = threading.stack_size(2**20)",
        "threading.stack_size(threading.stack_size(2**20) + 2**20)",
        "threading.stack_size(size)", "threading.stack_size(size)"),
    "origins of coroutines": Cell(
        "import sys", "sys.set_coroutine_origin_tracking_depth("
        "sys.get_coroutine_origin_tracking_depth() + 1)",
        "sys.get_coroutine_origin_tracking_depth()", "sys.set_coroutine_origin_tracking_depth(0)"),
    "the time zone": Cell(
        "import os, time; was = os.environ.get('TZ'); os.environ['TZ'] = 'UTC'; time.tzset()",
        "os.environ['TZ'] = f'Z{time.timezone // 3600 + 1}'; time.tzset()",
        "time.timezone, time.localtime(0).tm_hour",
        "os.environ.pop('TZ'); _ = was and os.environ.update(TZ=was); time.tzset()"),
    "a mask of signals": Cell(
        "import signal; was = signal.pthread_sigmask(signal.SIG_BLOCK, [])",
        "signal.pthread_sigmask(signal.SIG_BLOCK,"
        " [34 + len(signal.pthread_sigmask(signal.SIG_BLOCK, []))])",
        "len(signal.pthread_sigmask(signal.SIG_BLOCK, []))",
        "signal.pthread_sigmask(signal.SIG_SETMASK, was)"),
    "a limit": Cell(
        "import resource as r; was = r.getrlimit(r.RLIMIT_NOFILE)",
        "r.setrlimit(r.RLIMIT_NOFILE, (r.getrlimit(r.RLIMIT_NOFILE)[0] - 1, was[1]))",
        "was[0] - r.getrlimit(r.RLIMIT_NOFILE)[0]", "r.setrlimit(r.RLIMIT_NOFILE, was)"),
    "how processes start": Cell(
        "import multiprocessing as mp; was = mp.get_start_method()",
        "mp.set_start_method('spawn' if mp.get_start_method() == 'fork' else 'fork', force=True)",
        "mp.get_start_method()", "mp.set_start_method(was, force=True)"),
}  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has all of these")
@pytest.mark.parametrize("name", CELLS)
def test_it_is_as_after_one_run_or_told(shell: Shell, name: str) -> None:
    check_left(shell, CELLS[name])
