"""What counts as an accelerator path, and how lines that were not executed are told."""

from pathlib import Path

import pytest

from tests.accelerator_coverage import PACKAGE, accelerator_paths, here, report
from tests.matrix import ROOT


@pytest.mark.parametrize(("code", "is_path"), [
    ("x = torch.cuda.memory_stats()", True), ("class GpuDriver: pass", True),
    ("def find_gpus(): pass", True), ('if event.name == "cudaGraphLaunch": pass', True),
    ("import pynvml\nNVML = pynvml", True), ('"""Waits for GPUs."""', False),
    ("# on a GPU\nx = 1", False),
    ("def f():\n    '''On cuda.'''\n    return streams, examples", False),
])  # fmt: skip
def test_a_file_whose_code_names_an_accelerators_part_is_a_path(
    code: str, is_path: bool, tmp_path: Path
) -> None:
    (tmp_path / "file.py").write_text(code)
    assert bool(accelerator_paths(tmp_path)) is is_path


def test_recordings_and_tests_of_the_paths_run_by_their_process() -> None:
    found = {each.name: " ".join(each.tests) for each in here(accelerator_paths(PACKAGE / "host"))}
    assert "tests/host/test_nvml.py" in found["here, rooms"]
    assert "tests/recordings/test_replay.py" in found["here, rooms"]
    assert "tests/recordings/test_profiles.py" in found["here, several"]


def test_the_share_is_of_all_lines_and_what_was_not_imported_is_said() -> None:
    paths = [ROOT / "ipyjaxbench" / name for name in ("a.py", "b.py", "c.py")]
    lines = {
        "ipyjaxbench/a.py": {"executed_lines": [1, 2], "missing_lines": [3, 4, 5, 9]},
        "ipyjaxbench/b.py": {"executed_lines": [1, 2], "missing_lines": []},
    }
    assert [*report(lines, paths)] == [
        "a.py: 3-5, 9",
        "ipyjaxbench/c.py: not imported",
        "50.0% of 8 lines in 3 files were executed",
    ]
