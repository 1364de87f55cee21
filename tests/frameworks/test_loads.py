"""What a call has to do, framework by framework: products by dtype, bytes where all are moved."""

import gc
from pathlib import Path
from typing import Any

import pytest

import ipyjaxbench
from ipyjaxbench import expression, peaks
from ipyjaxbench.frameworks import find_arrays, loaded
from ipyjaxbench.graph_parts import Load
from ipyjaxbench.snippet import Source

np = pytest.importorskip("numpy")
jax = pytest.importorskip("jax")
torch = pytest.importorskip("torch")
tf = pytest.importorskip("tensorflow")
jnp = jax.numpy

N = 16
PRODUCT = 2.0 * N**3
BYTES = 4 * N * N


def named(framework: str) -> Any:
    return next(each for each in loaded()[0] if each.name == framework)


def load(framework: str, code: str, **names: Any) -> Load | None:
    def is_data(value: object) -> bool:
        return bool(find_arrays(value, loaded()[0]))

    found: Load | None = named(framework).load(
        expression.read(
            Source.plain(code), {"np": np, "torch": torch, "tf": tf, "jnp": jnp} | names, is_data
        )
    )
    return found


def in_float32(nbytes: int | None, *, shortcuts: bool = False, flops: float = PRODUCT) -> Load:
    return Load({"float32": flops}, shortcuts, nbytes)


# JAX


@pytest.fixture
def x() -> Any:
    return jnp.ones((N, N))


@pytest.mark.parametrize("code", ["x @ x", "jnp.dot(x, x)", "f(x)"])
def test_a_product_in_jax_reads_one_array_and_writes_another(x: Any, code: str) -> None:
    found = load("jax", code, x=x, f=jax.jit(lambda x: x @ x))
    assert found is not None
    assert found.products == {"float32": PRODUCT}
    assert found.nbytes == (3 if "dot" in code else 2) * BYTES


def test_turns_of_a_scan_count_and_those_of_a_while_loop_are_not_known(x: Any) -> None:
    def scanned(x: Any) -> Any:
        return jax.lax.scan(lambda c, _: (c @ c, None), x, None, length=10)[0]

    def looped(x: Any) -> Any:
        return jax.lax.while_loop(lambda c: c.sum() < 9, lambda c: c @ c, x)

    assert load("jax", "f(x)", f=scanned, x=x) == in_float32(None, flops=10 * PRODUCT)
    assert load("jax", "f(x)", f=looped, x=x) is None


def test_products_count_in_the_dtype_in_which_they_are_made(x: Any) -> None:
    def mixed(x: Any) -> Any:
        y = x.astype("bfloat16")
        return (y @ y).astype("float32") + x @ x

    found = load("jax", "f(x)", f=mixed, x=x)
    assert found == Load({"bfloat16": PRODUCT, "float32": PRODUCT}, False, 2 * BYTES)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x[:2] + 1,
        lambda x, y: x.at[0].set(1) + y,
        lambda x, y: x,
        lambda x, y: (x, y + 1),
        lambda x, y: x + 1,  # y is not read
        lambda x, y: (x @ x, y + 1)[1],
        lambda x, y: x[y.astype(int)],
    ],
)
def test_where_not_all_of_every_array_is_moved_in_jax_bytes_are_not_told(
    x: Any, function: Any
) -> None:
    found = load("jax", "f(x, x)", f=function, x=x)
    assert found is not None
    assert found.nbytes is None


def test_convolutions_in_jax_may_be_computed_by_shortcuts() -> None:
    image, kernel = jnp.ones((1, 3, 8, 8)), jnp.ones((4, 3, 3, 3))
    found = load("jax", "f(a, b, (1, 1), 'SAME')", f=jax.lax.conv, a=image, b=kernel)
    assert found is not None
    assert found.shortcuts


# PyTorch


@pytest.fixture
def a() -> Any:
    return torch.ones(N, N)


@pytest.mark.parametrize("code", ["a @ a", "torch.mm(a, a + 0)", "f(a)"])
def test_a_product_in_torch_is_counted(a: Any, code: str) -> None:
    found = load("torch", code, a=a, f=lambda a: torch.relu(a @ a).sum())
    assert found is not None
    assert found.products == {"float32": PRODUCT}
    assert found.nbytes is not None


def test_elementwise_work_in_torch_moves_all(a: Any) -> None:
    assert load("torch", "torch.relu(a) + 1", a=a) == Load({}, False, 2 * BYTES)
    assert load("torch", "a.sum()", a=a) == Load({}, False, BYTES + 4)


@pytest.mark.parametrize(
    "code", ["a[:2] + 1", "a.t()", "a[0]", "b + 1", "f(a)", "torch.gather(a, 0, a.long())"]
)
def test_where_not_all_of_every_tensor_is_moved_in_torch_bytes_are_not_told(
    a: Any, code: str
) -> None:
    repeated = torch.ones(1).expand(N * N)
    found = load("torch", code, a=a, b=repeated, f=lambda a: (a + 1).t())
    assert found is not None
    assert found.nbytes is None


def test_convolutions_in_torch_may_be_computed_by_shortcuts() -> None:
    layer, image = torch.nn.Conv2d(3, 4, 3), torch.ones(1, 3, 8, 8)
    found = load("torch", "layer(image)", layer=layer, image=image)
    assert found is not None
    assert found.shortcuts
    assert found.products["float32"] > 0


# TensorFlow


@pytest.fixture
def t() -> Any:
    return tf.ones((N, N))


@pytest.mark.parametrize(
    "code", ["t @ t", "tf.matmul(t, t)", "f(t)", "tf.einsum('ij,jk->ik', t, t)"]
)
def test_a_product_in_tensorflow_is_counted(t: Any, code: str) -> None:
    found = load("tensorflow", code, t=t, f=tf.function(lambda t: tf.matmul(t, t)))
    assert found is not None
    assert found.products == {"float32": PRODUCT}


def test_elementwise_work_in_tensorflow_moves_all(t: Any) -> None:
    assert load("tensorflow", "tf.exp(t) + t", t=t) == Load({}, False, 2 * BYTES)


@pytest.mark.parametrize("code", ["t[:2] + 1", "tf.identity(t)", "tf.gather(t, [0])"])
def test_where_not_all_of_every_tensor_is_moved_in_tensorflow_bytes_are_not_told(
    t: Any, code: str
) -> None:
    found = load("tensorflow", code, t=t)
    assert found is not None
    assert found.nbytes is None


def test_loops_in_tensorflow_of_unknown_turns_are_not_known(t: Any) -> None:
    def looped(t: Any) -> Any:
        return tf.while_loop(lambda c: tf.reduce_sum(c) < 9.0, lambda c: (c @ c,), (t,))[0]

    assert load("tensorflow", "f(t)", f=looped, t=t) is None


# NumPy


@pytest.mark.parametrize("code", ["m @ m", "m @ k", "np.dot(m, k)", "np.matmul(m, k)"])
def test_a_plain_product_in_numpy_is_counted(code: str) -> None:
    m = np.ones((N, N), np.float32)
    assert load("numpy", code, m=m, k=m.copy()) == in_float32(3 * BYTES)


@pytest.mark.parametrize("code", ["m + m", "m @ v", "m @ d", "np.sum(m)", "m @ m + 1"])
def test_other_work_in_numpy_is_not(code: str) -> None:
    m = np.ones((N, N), np.float32)
    assert load("numpy", code, m=m, v=m[0], d=m.astype("float64")) is None


# All of it


def test_a_large_jitted_product_reaches_a_good_part_of_the_peak(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    monkeypatch.setattr("ipyjaxbench.peaks.loaded", lambda: ([named("jax")], {}))
    names = {"f": jax.jit(lambda x: x @ x), "x": jnp.ones((2000, 2000))}
    for _ in range(5):  # other programs may take the CPUs in one look and not in the other
        (ceiling,) = peaks.ceilings(fresh=True).found
        measured = ipyjaxbench.measure_code("f(x)", names, budget=1)
        if measured.roof is not None and measured.roof.share >= 0.5:
            break
    conditions = measured.conditions
    assert conditions is not None
    others = (conditions.others or 0.0) / conditions.wall / conditions.cpus
    if max(others, ceiling.others) > 0.1:
        pytest.skip("other programs took CPUs while this was measured")
    assert measured.roof is not None
    assert measured.roof.of == "matmul peak"
    assert 0.5 <= measured.roof.share <= 1.15


def test_another_precision_of_products_has_ceilings_of_its_own() -> None:
    probe = named("torch").probe
    before = torch.get_float32_matmul_precision()
    settings = []
    try:
        for setting in ("highest", "medium"):
            torch.set_float32_matmul_precision(setting)
            settings.append(probe("cpu").settings)
    finally:
        torch.set_float32_matmul_precision(before)
    assert settings == ["", "float32 products: medium"]


def test_measuring_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def state() -> dict[str, Any]:
        gc.collect()
        return {
            "jit": (jax.config.jax_disable_jit, jax.config.jax_transfer_guard),
            "live": len(jax.live_arrays()),
            "torch": (torch.get_rng_state().tolist(), torch.get_num_threads()),
            "grad": (torch.is_grad_enabled(), torch.get_default_dtype()),
            "tensorflow": (tf.config.experimental.tensor_float_32_execution_enabled(),
                           tf.config.threading.get_intra_op_parallelism_threads()),
            "numpy": np.random.get_state()[1].tolist(),
        }  # fmt: skip

    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(peaks, "_SECONDS", 0.0)
    jnp.ones(3).block_until_ready()
    tf.ones(3)
    before = state()
    with jax.disable_jit(), jax.transfer_guard("disallow"):
        found = ipyjaxbench.ceilings(fresh=True)
    assert state() == before
    assert [each.framework for each in found.found] == ["numpy", "jax", "torch", "tensorflow"]
    assert all(each.products["float32"] > 1e8 for each in found.found)
