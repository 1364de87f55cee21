"""Code that people time on GPUs, in PyTorch and in JAX."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from tests.hardware.table import Case

LARGE = 4096  # rows of a product that takes longer than its launch
SIZES = (64, 512, 2048, 2 * LARGE)
COUNTS = (10**3, 10**6, 10**8)  # elements, of which the last do not fit into a cache


def case(
    name: str,
    call: Callable[..., Any],
    *values: Any,
    hand: Callable[..., Any] | None = None,
    profiled: bool = False,
) -> Case:
    """Make a case of a call; ``hand`` is the same where the call's value does not show all."""
    names = {f"v{i}": value for i, value in enumerate(values)}
    code = f"call({', '.join(names)})"
    return Case(name, code, {**names, "call": call}, partial(hand or call, *values), profiled)


def torch_cases(torch: Any, device: str = "cuda") -> Iterator[Case]:
    """Products, small operations, copies, hidden work, training, compiled code and graphs."""
    big = torch.randn(LARGE, LARGE, device=device)
    v = torch.randn(10**5, device=device)
    yield from _torch_operations(torch, device, v)
    yield from _torch_copies(torch, device, big)
    yield from _torch_hidden(big, v)
    if device == "cuda":
        yield from _cuda_streams(torch, big, v)
        yield from _cuda_programs(torch, big)
    yield _adamw(torch, device)


def _product(a: Any) -> Any:
    return a @ a


def _torch_operations(torch: Any, device: str, v: Any) -> Iterator[Case]:
    for size in SIZES:
        a = torch.randn(size, size, device=device)
        yield case(f"torch product {size}²", _product, a, profiled=size >= LARGE)
    half = torch.randn(LARGE, LARGE, device=device, dtype=torch.bfloat16)
    yield case(f"torch product {LARGE}² bfloat16", _product, half, profiled=True)
    for count in COUNTS:
        add = torch.randn(count, device=device)
        yield case(f"torch add {count:.0e}", lambda v: v + 1, add)

    def chain(v: Any) -> Any:
        for _ in range(30):
            v = v * 1.0001 + 0.1
        return v

    yield case("torch 60 small operations", chain, v)
    yield case("torch sum().item()", lambda v: v.sum().item(), v)


def _torch_copies(torch: Any, device: str, big: Any) -> Iterator[Case]:
    yield case("torch to the host", lambda a: a.cpu(), big)
    yield case("torch from the host", lambda a: a.to(device), torch.randn(LARGE, LARGE))


def _torch_hidden(big: Any, v: Any) -> Iterator[Case]:
    kept: dict[str, Any] = {}

    def dropped(a: Any, v: Any) -> Any:
        a @ a
        return v[:3] + 1

    yield case("torch left in a dict", lambda a: kept.update(y=a @ a), big)
    yield case("torch dropped, a small value", dropped, big, v)


def _cuda_streams(torch: Any, big: Any, v: Any) -> Iterator[Case]:
    side = torch.cuda.Stream()

    def on_side(a: Any) -> None:
        with torch.cuda.stream(side):
            a @ a

    def behind(a: Any, v: Any) -> Any:
        on_side(a)
        return v[:3] + 1

    yield case("torch side stream", on_side, big)
    yield case("torch side stream, a small value", behind, big, v)


def _cuda_programs(torch: Any, big: Any) -> Iterator[Case]:
    graph, a = torch.cuda.CUDAGraph(), torch.randn(1024, 1024, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        for _ in range(20):
            a = a * 1.0001 + 0.1
    yield case("torch replay of a CUDA graph", graph.replay)
    compiled = torch.compile(lambda a: torch.nn.functional.softmax(a @ a, -1).sum())
    yield case("torch compiled softmax", compiled, big)
    q = torch.randn(4, 16, 1024, 64, device="cuda", dtype=torch.float16)
    attention = torch.nn.functional.scaled_dot_product_attention
    yield case("torch attention float16", lambda q: attention(q, q, q), q)


def _adamw(torch: Any, device: str) -> Case:
    model = torch.nn.Sequential(*(torch.nn.Linear(1024, 1024) for _ in range(4))).to(device)
    optimizer = torch.optim.AdamW(model.parameters())

    def step(x: Any) -> Any:
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss

    return case("torch AdamW step", step, torch.randn(512, 1024, device=device))


def jax_cases(jax: Any) -> Iterator[Case]:
    """Products, small operations, scans, copies, hidden work, training and donated arrays."""
    big = _normal(jax, LARGE, LARGE)
    yield from _jax_operations(jax, big)
    yield from _jax_copies(jax, big)
    yield from _jax_hidden(jax, big)
    yield from _jax_programs(jax)
    yield _donated(jax)


def _normal(jax: Any, *shape: int, dtype: str = "float32") -> Any:
    return jax.random.normal(jax.random.key(0), shape, dtype)


def _jax_operations(jax: Any, big: Any) -> Iterator[Case]:
    product, add = jax.jit(_product), jax.jit(lambda v: v + 1)
    for size in SIZES:
        a = _normal(jax, size, size)
        yield case(f"jax product {size}²", product, a, profiled=size >= LARGE)
    half = big.astype("bfloat16")
    yield case(f"jax product {LARGE}² bfloat16", product, half, profiled=True)
    for count in COUNTS:
        yield case(f"jax add {count:.0e}", add, jax.numpy.ones(count))
    yield case("jax eager chain", lambda a: (a * 2 + 1).sum(), big)


def _jax_copies(jax: Any, big: Any) -> Iterator[Case]:
    add, h = jax.jit(lambda v: v + 1), np.ones((LARGE, LARGE), np.float32)
    yield case("jax from the host", jax.device_put, h)
    yield case("jax an argument from the host", add, h)
    yield case("jax float()", lambda a: float((a @ a)[0, 0]), big)


def _jax_hidden(jax: Any, big: Any) -> Iterator[Case]:
    product, add = jax.jit(_product), jax.jit(lambda v: v + 1)
    kept: dict[str, Any] = {}

    def dropped(a: Any, v: Any) -> Any:
        product(a)
        return add(v)

    def both(a: Any, v: Any) -> Any:
        return product(a), add(v)

    yield case("jax left in a dict", lambda a: kept.update(y=product(a)), big, hand=product)
    yield case("jax dropped, a small value", dropped, big, jax.numpy.ones(100), hand=both)


def _jax_programs(jax: Any) -> Iterator[Case]:
    jnp = jax.numpy
    selu = jax.jit(lambda a: 1.05 * jnp.where(a > 0, a, 1.67 * jnp.exp(a) - 1.67))
    scan = jax.jit(
        lambda a: jax.lax.scan(lambda c, _: (jnp.tanh(c @ c * 0.01), c.sum()), a, None, 50)
    )
    attention = jax.jit(lambda q: jax.nn.dot_product_attention(q, q, q))
    yield case("jax selu 3000²", selu, _normal(jax, 3000, 3000))
    yield case("jax scan of 50", scan, _normal(jax, 512, 512))
    yield case("jax attention bfloat16", attention, _normal(jax, 4, 1024, 16, 64, dtype="bfloat16"))


def _donated(jax: Any) -> Case:
    """A training step that gives its parameters' memory to the new ones."""

    def loss(weights: Any, x: Any) -> Any:
        return sum((x @ w).sum() ** 2 for w in weights)

    def train(weights: Any, x: Any) -> Any:
        return jax.tree.map(lambda w, g: w - 0.1 * g, weights, jax.grad(loss)(weights, x))

    step = jax.jit(train, donate_argnums=0)
    weights, theirs = ([_normal(jax, 1024, 1024) for _ in range(4)] for _ in range(2))
    x, kept = jax.numpy.ones((256, 1024)), {"p": theirs}

    def call() -> Any:
        kept["p"] = step(kept["p"], x)
        return kept["p"]

    return Case("jax donated step", "p = step(p, x)", {"step": step, "x": x, "p": weights}, call)
