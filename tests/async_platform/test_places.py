"""`%fwdevices`, `%%fwdevices` and `%trace_cached` tell the platform's devices from the host's."""

from typing import Any

import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ipyjaxbench.timing import roofline
from tests.shell import Shell

NBYTES = 4 * 400 * 400


def shown(run: Shell) -> str:
    """The report, each run of blanks as one."""
    return " ".join(run.shown[-1].data["text/plain"].split())


def test_devices_have_the_name_of_their_platform(run: Shell) -> None:
    run.run("%fwdevices x xs")
    text = shown(run)
    assert "fake:0-3 cpu:0 (5 devices), default fake:0 (JAX_PLATFORMS=fake,cpu)" in text
    assert "virtual" not in text  # as devices of one CPU would be
    assert "xs[3] jax f32[400,400] 625 KiB fake:3, committed" in text


def test_the_default_device_is_that_of_the_user(run: Shell) -> None:
    run.run("with jax.default_device(d[2]): get_ipython().run_line_magic('fwdevices', '')")
    assert "default fake:2" in shown(run)


def test_a_sharded_array_is_drawn_with_its_devices(run: Shell, names: dict[str, Any]) -> None:
    mesh = Mesh(np.array(names["d"]), ("rows",))
    import jax

    run.names["whole"] = jax.device_put(names["host"], NamedSharding(mesh, PartitionSpec("rows")))
    run.run("%fwdevices whole")
    text = shown(run)
    assert "rows sharded over 'rows' (4)" in text
    assert all(f"fake:{number}" in text for number in range(4))
    run.run("%fwtime -q -b 0.5 -v found (whole @ whole).sum()")
    assert run.names["found"].median > 0


@pytest.mark.parametrize(("code", "source", "target"), [
    ("y = jax.device_put(host, d[1])", "host", "fake:1"),
    ("y = jax.device_put(xs[1], d[2])", "fake:1", "fake:2"),
    ("y = jax.device_put(xs[3], cpu)", "fake:3", "cpu:0"),
    ("y = jax.device_put(jax.device_put(host, cpu), d[0])", "cpu:0", "fake:0"),
])  # fmt: skip
def test_copies_between_clients_have_bytes_direction_and_time(
    code: str, source: str, target: str, run: Shell
) -> None:
    run.run(f"%%fwdevices -v found\n{code}")
    copy = next(c for c in run.names["found"].transfers if (c.source, c.target) == (source, target))
    assert copy.nbytes == NBYTES
    assert copy.seconds > 0


def test_another_device_is_another_program(run: Shell) -> None:
    run.run("import jax")  # traces are reported from the end of a cell that has imported it
    run.run("f = jax.jit(lambda x: x * 2)\nf(xs[0])")
    run.run("%%trace_cached -v found\nf(xs[0])\nf(xs[1])\nf(xs[1])")
    states = [call.state for call in run.names["found"].calls]
    assert states[0] == states[2] == "CACHED"
    assert states[1] != "CACHED"
    assert "fake:1" in shown(run)


@pytest.mark.parametrize("case", ["value = float(x[0, 0])", "value = np.asarray(x)"])
def test_a_value_is_read_back_with_its_device_named(case: str, run: Shell) -> None:
    run.run(f"%%fwdevices -v found\n{case}")
    assert any("fake:0" in c.source and c.target == "host" for c in run.names["found"].transfers)


def test_peaks_of_the_platform_stand_beside_the_hosts(
    run: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Beside other programs peaks read too low, and a share of 100 % and more is not shown.
    for name, value in (("_MIN_REPORTED_SHARE", 0.0), ("_BEYOND_RATIO", 1e9), ("BUSY", 1.0)):
        monkeypatch.setattr(roofline, name, value)
    run.run("%fwdevices --peak --remeasure -v found")
    assert {"fake:0", "cpu:0"} <= {each.device for each in run.names["found"].found}
    assert "fake" in shown(run)
    run.run("""
        from jax.sharding import NamedSharding, PartitionSpec
        mesh = jax.make_mesh((4,), ("rows",), devices=d)
        spread = jax.device_put(host, NamedSharding(mesh, PartitionSpec("rows")))
        whole = jax.device_put(host, NamedSharding(mesh, PartitionSpec()))
        square = jax.jit(lambda a, b: a @ b)
    """)
    run.run("%fwtime -q -v timed square(spread, whole)")
    roof = run.names["timed"].roof
    assert roof.devices == 4
    assert roof.speed == pytest.approx(2 * 400**3 / 4 / run.names["timed"].headline.value)
    (peaks,) = [each for each in run.names["found"].found if each.device == "fake:0"]
    assert roof.ceiling == pytest.approx(peaks.products["float32"])  # of each device
