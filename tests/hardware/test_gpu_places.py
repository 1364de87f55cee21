"""Where everything lives on a machine with a GPU, and what cells copy to and from it."""

import json
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from ipyjaxbench import Transfers
from ipyjaxbench.device.devices import Device, FrameworkDevices
from ipyjaxbench.device.locate import locate, survey
from ipyjaxbench.device.watch_transfers import transfer_code
from ipyjaxbench.host import query_gpus
from ipyjaxbench.usercode.snippet import Source

N = 4096  # 64 MiB of float32: a copy takes milliseconds
NBYTES = N * N * 4


def home(framework: str) -> FrameworkDevices:
    return next(each for each in survey({}).homes if each.framework == framework)


def default_device(framework: str) -> Device:
    found = home(framework)
    return next(each for each in found.devices if each.name == found.default)


def ran(code: str, **names: Any) -> Transfers:
    found, error = transfer_code(Source.plain(code), {"np": np, **names})
    assert error is None
    return found


def directions(found: Transfers) -> list[tuple[str, int, bool]]:
    return [(each.direction, each.copied, each.asked) for each in found.transfers]


def assert_timed(found: Transfers) -> None:
    """Each copy has a time, at a rate that hardware can reach, and all fit into the cell."""
    for each in found.transfers:
        assert each.seconds is not None
        assert each.copied / each.seconds < 4e12
    copying = sum(each.seconds or 0.0 for each in found.transfers)
    assert 0 < copying <= found.seconds


#: What says how much memory frameworks take, as the user may have set it.
_OF_MEMORY = ("XLA_PYTHON_CLIENT_", "XLA_CLIENT_MEM_FRACTION", "TF_FORCE_GPU_", "PYTORCH_CUDA_")


def in_a_process(code: str, **environment: str) -> Any:
    """What the last line of a new process says: what is taken at a start cannot be changed.

    How much memory is taken there is what the environment says here, whatever was set outside.
    """
    plain = {name: v for name, v in os.environ.items() if not name.startswith(_OF_MEMORY)}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**plain, **environment}, capture_output=True,
        text=True, check=False, timeout=300,
    )  # fmt: skip
    assert not done.returncode, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


JAX_HOME = """
import json, jax
from ipyjaxbench.device.locate import survey
from ipyjaxbench.device.set_memory import set_memory
if {sets}:
    set_memory(prealloc=False, fraction=0.5)
jax.numpy.ones(1).block_until_ready()
home = next(each for each in survey({{}}).homes if each.framework == "jax")
gpu = next(each for each in home.devices if each.name == home.default)
print(json.dumps([[text for text in home.texts if "JAX" in text], gpu.limit, gpu.used]))
"""


def test_jax_says_what_it_took_of_a_gpu_at_its_start(gpu: Any) -> None:
    words, limit, used = in_a_process(
        JAX_HOME.format(sets=False), XLA_PYTHON_CLIENT_MEM_FRACTION="0.2"
    )
    (told,) = words
    assert told.startswith("JAX preallocated 20% of each GPU at startup.")
    assert told.endswith("PREALLOCATE=false in the environment before the first use")
    assert 0 <= used < limit


def test_what_was_set_before_jax_started_is_what_it_takes(gpu: Any) -> None:
    words, limit, _ = in_a_process(JAX_HOME.format(sets=True))
    assert words == ["JAX allocates GPU memory on demand and keeps it"]
    (whole,) = {each.memory for each in query_gpus()}
    assert whole is not None
    assert 0.45 < limit / whole < 0.55


def test_jax_tells_its_arrays_on_the_gpu(gpu: Any) -> None:
    x = gpu.numpy.ones((N, N))
    found = locate({"x": x})
    assert found.by_device("jax") == {found.arrays[0].devices[0]: (1, NBYTES)}
    used = default_device("jax").used
    assert used is not None
    assert used >= NBYTES


def test_the_default_device_of_jax_is_the_gpu(gpu: Any) -> None:
    assert default_device("jax").name == "gpu:0"


def test_torch_tells_what_tensors_use_and_what_it_reserved(cuda: Any) -> None:
    x = cuda.ones(N, N, device="cuda")
    device = next(each for each in home("torch").devices if each.name == "cuda:0")
    assert device.used is not None
    assert device.used >= x.nbytes
    assert "compute capability" in device.kind
    assert any(
        words.startswith("cuda:0: PyTorch's allocator reserved") for words in home("torch").texts
    )


def test_the_share_that_torch_may_take_is_set_and_undone(cuda: Any) -> None:
    code = """
import json, torch
from ipyjaxbench.device.set_memory import set_memory
(told,) = (each for each in set_memory(fraction=0.01).settings if each.framework == "torch")
try:
    torch.ones(2**30, device="cuda")
    raised = False
except torch.cuda.OutOfMemoryError:
    raised = True
exec(told.undo)
print(json.dumps([raised, torch.ones(2**28, device="cuda").numel()]))
"""
    assert in_a_process(code) == [True, 2**28]


def test_who_else_uses_a_gpu_is_told_or_said_to_be_unknown(cuda: Any) -> None:
    cuda.ones(1, device="cuda")
    code = "import torch; x = torch.ones(1, device='cuda'); print('up', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "up\n"
        found = home("torch")
        other.communicate("\n")
    device = next(each for each in found.devices if each.name == "cuda:0")
    if device.users is None:  # a container hides the processes of others
        assert any("other processes on the GPUs are unknown" in words for words in found.texts)
    else:
        assert device.users >= 1


def test_tensorflow_takes_memory_as_it_needs_it_once_that_is_set(tf: Any) -> None:
    code = """
import json
import tensorflow as tf
from ipyjaxbench.device.locate import survey
from ipyjaxbench.device.set_memory import set_memory
set_memory(prealloc=False)
tf.ones(1)
home = next(each for each in survey({}).homes if each.framework == "tensorflow")
print(json.dumps(list(home.texts)))
"""
    words = "TensorFlow allocates GPU memory on demand and keeps it"
    assert words in in_a_process(code)


def test_copies_of_torch_are_told_with_their_time(cuda: Any) -> None:
    t = cuda.ones(N, N)
    t.to("cuda")  # the first use takes seconds
    found = ran("g = t.to('cuda')\nh = g.cpu()\ng.sum().item()", t=t)
    assert directions(found) == [
        ("to devices", NBYTES, True),
        ("to the host", NBYTES, True),
        ("to the host", 4, True),
    ]
    assert_timed(found)
    assert [each.line for each in found.transfers] == [1, 2, 3]


def test_torch_work_before_a_copy_is_waiting_not_copying(cuda: Any) -> None:
    g = cuda.ones(N, N, device="cuda")
    g @ g
    cuda.cuda.synchronize()
    found = ran("y = g\nfor _ in range(50):\n    y = y @ g\ny[0, 0].item()", g=g)
    assert found.waiting > 10 * sum(found.copying.values())


def test_copies_of_torch_between_gpus_are_told_with_both(cuda: Any) -> None:
    if cuda.cuda.device_count() < 2:
        pytest.skip("there is one GPU only")
    g = cuda.ones(N, N, device="cuda:0")
    g.to("cuda:1")
    (copy,) = ran("other = g.to('cuda:1')", g=g).transfers
    assert (copy.source, copy.target, copy.copied) == ("cuda:0", "cuda:1", NBYTES)
    assert copy.direction == "between devices"


def test_copies_of_jax_are_told_with_their_time(gpu: Any) -> None:
    n = np.ones((N, N), np.float32)
    step = gpu.jit(lambda x: x + 1)
    step(gpu.device_put(n)).block_until_ready()
    code = "x = jax.device_put(n)\ny = step(x)\nh = np.asarray(y)\nz = step(n)"
    found = ran(code, jax=gpu, n=n, step=step)
    assert directions(found) == [
        ("to devices", NBYTES, True),
        ("to the host", NBYTES, True),
        ("to devices", NBYTES, False),
    ]
    assert_timed(found)


def test_copies_of_jax_between_gpus_are_told_with_both(gpu: Any) -> None:
    if gpu.device_count() < 2:
        pytest.skip("there is one GPU only")
    x = gpu.device_put(np.ones((N, N), np.float32), gpu.devices()[0])
    (copy,) = ran("y = jax.device_put(x, jax.devices()[1])", jax=gpu, x=x).transfers
    assert (copy.direction, copy.copied) == ("between devices", NBYTES)


def test_copies_of_tensorflow_are_told_with_their_time(tf: Any) -> None:
    n = np.ones((N, N), np.float32)
    with tf.device("GPU:0"):
        tf.identity(tf.constant(n)).numpy()
        found = ran("x = tf.identity(tf.constant(n))\nh = x.numpy()", tf=tf, n=n)
    assert ("to the host", NBYTES, True) in directions(found)
    assert any(way == "to devices" for way, _, _ in directions(found))
