"""Arrays one by one: which are alive, how they are described, and how long converting takes."""

from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

from ipyjaxbench.adapters.jax import Jax, arrays
from ipyjaxbench.device.protocol import ArrayInspector
from tests.loads import named

X = jnp.ones((2, 3))


def inspector() -> Any:
    return named("jax").capability(ArrayInspector)


def gone() -> Any:
    array = X + 1
    array.delete()
    return array


def test_an_array_is_located_with_what_jax_knows_of_it() -> None:
    found = inspector().locate("x", jax.device_put(X, jax.devices()[0]))
    assert (found.weak, found.committed, found.deleted) == (False, True, False)
    found = inspector().locate("y", jnp.asarray(2.0))
    assert (found.weak, found.committed, found.memory) == (True, False, "")
    assert inspector().locate("z", gone()).deleted


def test_only_arrays_that_were_not_deleted_are_alive_and_have_a_weight() -> None:
    assert inspector().weight(X).nbytes == 24
    assert inspector().weight(X).sharding is None
    assert inspector().weight(gone()).nbytes == 0
    key = jax.random.key(0)
    assert inspector().weight(key).nbytes == 8
    kept, lost = X + 5, gone()
    identities = {id(array) for array in inspector().live_arrays()}
    assert id(kept) in identities
    assert id(lost) not in identities


def test_what_we_ask_devices_with_is_nobodys_array() -> None:
    framework = named("jax")
    framework.prepare()
    own = {id(array) for array in framework.own_arrays()}
    assert own
    assert own <= {id(array) for array in jax.live_arrays()}
    assert own.isdisjoint(id(array) for array in inspector().live_arrays())


@pytest.mark.parametrize(
    ("array", "dtype"),
    [(X.astype("bfloat16"), "float32"), (X.astype("int8"), "int8"), (X > 0, "bool"),
     (X.astype("complex64"), "complex64"), (X.astype("float16"), "float16")],
)  # fmt: skip
def test_numbers_that_numpy_lacks_become_float32(array: Any, dtype: str) -> None:
    host = inspector().to_numpy(array)
    assert host.dtype == dtype
    assert host.shape == (2, 3)
    assert (host == 1).all()


def test_what_shares_the_hosts_memory_or_has_no_numbers_is_not_converted() -> None:
    assert inspector().to_numpy(jax.random.key(0)) is None
    assert inspector().conversion(X) is None
    assert inspector().conversion(gone()) is None


@pytest.mark.parametrize(("free", "is_told"), [(240, True), (239, False)])
def test_a_conversion_is_measured_where_a_tenth_of_the_memory_is_enough(
    free: int, is_told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Jax, "free_memory", lambda _: free)
    place = SimpleNamespace(devices=("gpu:0",), nbytes=24)
    monkeypatch.setattr(Jax, "placement", lambda *_: place)
    found = inspector().conversion(X)
    assert (found is not None) is is_told
    if found is not None:
        first, again = found
        assert 0 < first < 1
        assert 0 < again < 1


def test_a_part_of_a_spec_names_axes_and_a_region_has_both_ends_on_each() -> None:
    entries = (None, "a", ("a", "b"), P.UNCONSTRAINED)
    assert [*map(arrays._axes, entries)] == [(), ("a",), ("a", "b"), ()]
    cut = (slice(2, 4), slice(None), slice(3, None), slice(None, 1))
    assert arrays._region(cut, (8, 5, 6, 7)) == ((2, 4), (0, 5), (3, 6), (0, 1))


def test_meshes_and_shardings_are_described() -> None:
    mesh = Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ("a", "b"))
    told = "a mesh of 1 device: 'a' (1) × 'b' (1)"
    assert inspector().describe(mesh) == told
    spec = P("a", None)
    assert inspector().describe(NamedSharding(mesh, spec)) == f"a sharding {spec} over {told}"
    assert inspector().describe(X.sharding) == "a sharding over 1 device"
    assert inspector().describe(X) == inspector().describe(3) == ""
    none = Mesh(np.array(jax.devices()[0]), ())
    assert inspector().describe(none) == "a mesh of 1 device: without axes"


def test_frames_that_made_an_array_are_told() -> None:
    frames = inspector().creation_frames(X * 3)
    assert any(name == "test_frames_that_made_an_array_are_told" for _, name, _ in frames)
    assert inspector().creation_frames(3) == []
