"""What dynamo and its backends spend time on, by dynamo's own marks."""

from typing import Any

import pytest
import torch
from torch._dynamo.utils import get_chromium_event_logger

from ipyjaxbench.adapters.torch.compile_passes import profile_compilation
from tests.shell import Shell


def test_marks_add_up_to_what_dynamo_took_and_are_put_back(shell: Shell) -> None:
    shell.run("%load_ext ipyjaxbench\nimport torch\n"
              "@torch.compile(backend='aot_eager')\n"
              "def unrolled(x):\n"
              "    for i in range(20):\n"
              "        x = torch.sin(x * i)\n"
              "    return x.sum()\n"
              "x = torch.ones(8)")  # fmt: skip
    shell.run("%fwtime -n 1 -r 2 --passes -v found unrolled(x)")
    found = shell.names["found"]
    (passes,) = found.fresh.passes
    seconds = sum(found.fresh.phases.values())
    assert 0.8 <= passes.seconds / seconds <= 1.2  # within 10 % where nothing else runs
    assert any(each.name.startswith("dynamo") for each in passes.passes)
    assert passes.lines[0].text == "x = torch.sin(x * i)"
    assert "log_event_end" not in vars(get_chromium_event_logger())
    shell.run("%fwtime -n 1 -r 2 --fresh unrolled(x)")
    assert "passes of compiling" not in shell.shown[0].data["text/plain"]


def test_an_error_puts_the_marks_back() -> None:
    def fails() -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        profile_compilation(fails)
    assert "log_event_end" not in vars(get_chromium_event_logger())


def test_eager_code_marks_nothing() -> None:
    made = []
    found = profile_compilation(lambda: made.append(torch.ones(3) + 1))
    assert made
    assert found.reason == "nothing was compiled under the profiler"
