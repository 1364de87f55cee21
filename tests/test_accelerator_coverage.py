"""What counts as an accelerator path, and how lines that were not executed are told."""

from pathlib import Path

import pytest

from tests.accelerator_coverage import PACKAGE, accelerator_paths, here, report
from tests.matrix import ROOT

OTHER = "\n\ndef other():\n    return 1\n"


@pytest.mark.parametrize(("name", "code", "lines"), [
    ("file.py", "def f():\n    return torch.cuda.memory_stats()" + OTHER, {1, 2}),
    ("file.py", "class GpuDriver:\n    x = 1" + OTHER, {1, 2}),
    ("file.py", "def find_gpus():\n    pass" + OTHER, {1, 2}),
    ("file.py", "def f(event):\n    return event.name == 'cudaGraphLaunch'" + OTHER, {1, 2}),
    ("file.py", "class Adapter:\n    def f(self):\n        return NVML" + OTHER, {2, 3}),
    ("file.py", "def f():\n    '''On GPUs.'''\n    return streams  # on a GPU" + OTHER, set()),
    ("gpu_file.py", OTHER.strip(), {1, 2}),
    ("chips/file.py", OTHER.strip(), {1, 2}),
])  # fmt: skip
def test_a_path_has_a_name_or_code_that_is_of_accelerators(
    name: str, code: str, lines: set[int], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(code)
    assert accelerator_paths(tmp_path) == ({path: lines} if lines else {})


def test_recordings_and_tests_of_the_paths_run_by_their_process() -> None:
    found = {each.name: " ".join(each.tests) for each in here(accelerator_paths(PACKAGE / "host"))}
    assert "tests/host/test_nvml.py" in found["here, rooms"]
    assert "tests/recordings/test_replay.py" in found["here, rooms"]
    assert "tests/recordings/test_profiles.py" in found["here, several"]


def test_the_share_is_of_lines_of_the_paths_and_what_was_not_imported_is_said() -> None:
    paths = {ROOT / "ipyjaxbench" / name: {*range(1, 10)} for name in ("a.py", "b.py", "c.py")}
    lines = {
        "ipyjaxbench/a.py": {"executed_lines": [1, 2, 11], "missing_lines": [3, 4, 5, 9, 10]},
        "ipyjaxbench/b.py": {"executed_lines": [1, 2], "missing_lines": []},
    }
    assert [*report(lines, paths)] == [
        "ipyjaxbench/a.py: 3-5, 9",
        "ipyjaxbench/c.py: not imported",
        "50.0% of 8 lines in 3 files were executed",
    ]
