"""Which code is the user's: neither Python's, nor a library's, nor this package's."""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from ipyjaxbench.usercode import origin


class Own:
    pass


USERS = ("/home/me/train.py", "/tmp/ipykernel_12/345.py", "<ipython-input-1-abc>", "<string>",
         "C:\\me\\train.py", "/home/me/my-packages/train.py", __file__)  # fmt: skip
OTHERS = (json.__file__, np.__file__, origin.__file__, "<frozen importlib._bootstrap>",
          "<eval_with_key>.7", "<__array_function__ internals>",
          "/opt/env/lib/python3.11/site-packages/flax/core.py",
          "/usr/lib/python3/dist-packages/six.py",
          "C:\\env\\Lib\\site-packages\\flax\\core.py")  # fmt: skip


@pytest.mark.parametrize("file", [*USERS, *OTHERS])
def test_files_of_the_user_are_none_of_python_and_libraries(file: str) -> None:
    assert origin.is_users_file(file) is (file in USERS)


def test_a_framework_elsewhere_is_a_library(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    module = ModuleType("keras")
    module.__file__ = str(tmp_path / "keras" / "__init__.py")
    monkeypatch.setitem(sys.modules, "keras", module)
    assert not origin.is_users_file(str(tmp_path / "keras" / "layers.py"))
    assert origin.is_users_file(str(tmp_path / "kerastics" / "layers.py"))


def test_what_distributions_in_a_folder_list_is_a_library_and_what_lies_beside_is_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As `pip install --target` leaves them; an editable installation lists no code."""
    metadata = tmp_path / "fast_frames-1.0.dist-info"
    metadata.mkdir()
    (metadata / "RECORD").write_text('frames/__init__.py,sha256=x,12\nframes_io.py,,\n"a,b",,\n')
    (tmp_path / "mine-0.1.dist-info").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    files = {"frames/io/read.py": False, "frames_io.py": False, "frames.py": True, "mine.py": True,
             "mine/frames/__init__.py": True}  # fmt: skip
    assert {name: origin.is_users_file(str(tmp_path / name)) for name in files} == files


def test_functions_classes_and_modules() -> None:
    assert origin.is_users_function(test_functions_classes_and_modules)
    assert not any(map(origin.is_users_function, (json.dumps, len, Own)))
    assert all(map(origin.is_users_class, (Own, SimpleNamespace)))
    assert not any(map(origin.is_users_class, (json.JSONDecoder, int, np.ndarray)))
    assert origin.is_users_module(sys.modules[__name__])
    assert not any(map(origin.is_users_module, (json, sys, origin)))
