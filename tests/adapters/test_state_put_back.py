"""A timed training step stays one step: bit for bit what code leaves that ran exactly once."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import optax
import pytest
import tensorflow as tf
import torch
import torch._dynamo  # changes the environment when it is loaded
from flax import nnx
from torch import nn

import ipyjaxbench

Names = dict[str, Any]


def bits(value: Any) -> Any:
    """All numbers in a value, as bytes."""
    if isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    if isinstance(value, torch.Tensor):
        value = value.detach().numpy()
    if isinstance(value, dict):
        return [(key, bits(each)) for key, each in value.items()]
    if isinstance(value, list | tuple):
        return [*map(bits, value)]
    return np.asarray(value).tobytes() if hasattr(value, "__array__") else value


def as_once(make: Callable[[], Names], code: str, state: Callable[[Names], Any]) -> None:
    """Time code, and hold what it leaves against a control that ran it once, and once more."""
    once = make()
    exec(code, once)
    expected = bits(state(once))
    exec(code, once)
    names = make()
    found = ipyjaxbench.measure_code(code, names, number=3, repeat=2)
    assert bits(state(names)) == expected
    assert "state-advanced" not in {note.code for note in found.notes}
    (note,) = [note for note in found.notes if note.code == "put-back"]
    assert note.text.startswith("Restored to the state after the first call: ")
    exec(code, names)
    assert bits(state(names)) == bits(state(once))


def of_torch(*, foreach: bool = False, scaled: bool = False, none: bool = True) -> Names:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 2))
    opt = torch.optim.AdamW(model.parameters(), lr=0.1, amsgrad=True, foreach=foreach)
    x, y = torch.randn(16, 4), torch.randn(16, 2)
    draws = torch.Generator().manual_seed(3)
    scaler = torch.amp.GradScaler("cpu", enabled=scaled)
    losses: list[float] = []

    def step() -> Any:
        opt.zero_grad(set_to_none=none)
        noisy = x + torch.randn(16, 4, generator=draws)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=scaled):
            loss = (model(noisy) - y).square().mean()
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        losses.append(loss.item())
        return loss

    return {"model": model, "opt": opt, "step": step, "draws": draws, "scaler": scaler,
            "losses": losses}  # fmt: skip


def left_in_torch(names: Names) -> Any:
    parameters = [*names["model"].parameters()]
    versions, gradients = [p._version for p in parameters], [p.grad for p in parameters]
    own = names["model"].state_dict(), [*names["opt"].state.values()], names["draws"].get_state()
    return [gradients, versions, *own, names["scaler"].state_dict(), names["losses"]]


@pytest.mark.parametrize("facts", [{"none": False}, {"foreach": True, "scaled": True}])
def test_a_step_of_torch(facts: dict[str, bool]) -> None:
    as_once(lambda: of_torch(**facts), "loss = step()", left_in_torch)


def test_tensors_of_torch_keep_their_memory_and_are_told_by_the_variables_that_hold_them() -> None:
    m = nn.Linear(3, 1)
    o = torch.optim.SGD(m.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(torch.ones(4, 3), batch_size=2)
    code = "for x in loader:\n    o.zero_grad()\n    m(x).mean().backward()\n    o.step()"
    places = [(id(t), t.data_ptr()) for t in m.parameters()]
    found = ipyjaxbench.measure_code(code, {"m": m, "o": o, "loader": loader}, number=2, repeat=3)
    (text,) = [note.text for note in found.notes if note.code == "put-back"]
    restored = text.removeprefix("Restored to the state after the first call: ")
    assert {*restored.partition(" (")[0].split(", ")} == {"o", "m"}
    assert [(id(t), t.data_ptr()) for t in m.parameters()] == places


def of_keras() -> Names:
    keras.utils.set_random_seed(0)
    layers = [keras.layers.Dense(8, activity_regularizer="l2"), keras.layers.BatchNormalization(),
              keras.layers.Dropout(0.3), keras.layers.Dense(2)]  # fmt: skip
    model = keras.Sequential(layers)
    model.compile("adam", "mse", metrics=["mae"])
    data = np.random.RandomState(0).rand(32, 3).astype("float32"), np.ones((32, 2), "float32")
    return {"model": model, "a": data[0], "b": data[1]}


def left_in_keras(names: Names) -> Any:
    model = names["model"]
    held = [*model.weights, *model.optimizer.variables]
    held += [each for part in (*model.metrics, *model.layers) for each in part.variables]
    return [each.numpy() for each in held]


def test_a_step_of_keras() -> None:
    as_once(of_keras, "h = model.fit(a, b, verbose=0)", left_in_keras)


def test_variables_and_generators_of_tensorflow() -> None:
    def make() -> Names:
        v, draws = tf.Variable([1.0, 2.0]), tf.random.Generator.from_seed(1)
        opt = keras.optimizers.SGD(0.1, momentum=0.9)

        @tf.function
        def step() -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(v**2)
            opt.apply_gradients([(tape.gradient(loss, v), v)])
            return loss + tf.reduce_sum(draws.normal((3,)))

        return {"v": v, "opt": opt, "step": step, "draws": draws}

    def left(names: Names) -> Any:
        held = [names["v"], *names["opt"].variables, names["draws"].state]
        return [each.numpy() for each in held]

    as_once(make, "step()", left)
    as_once(make, "v.assign_add([1.0, 1.0])", left)


def of_nnx() -> Names:
    rngs = nnx.Rngs(0, dropout=1)
    layers = nnx.Linear(4, 8, rngs=rngs), nnx.BatchNorm(8, rngs=rngs), nnx.Dropout(0.5, rngs=rngs)
    model = nnx.Sequential(*layers, nnx.Linear(8, 2, rngs=rngs))
    opt = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)

    @nnx.jit
    def step(model: Any, opt: Any, x: Any, y: Any) -> Any:
        loss, grads = nnx.value_and_grad(lambda m: ((m(x) - y) ** 2).mean())(model)
        opt.update(model, grads)
        return loss

    metrics = nnx.MultiMetric(loss=nnx.metrics.Average())
    return {"model": model, "opt": opt, "step": step, "metrics": metrics,
            "x": jnp.ones((16, 4)), "y": jnp.zeros((16, 2))}  # fmt: skip


def test_a_step_of_nnx() -> None:
    code, held = "metrics.update(values=step(model, opt, x, y))", ("model", "opt", "metrics")
    as_once(of_nnx, code, lambda names: [jax.tree.leaves(nnx.state(names[n])) for n in held])


@pytest.mark.parametrize("donated", [(), (0, 1)])
def test_a_step_of_optax_in_plain_dictionaries(donated: tuple[int, ...]) -> None:
    def make() -> Names:
        tx, x, y = optax.adam(1e-2), jnp.ones((16, 4)), jnp.zeros((16, 2))
        parameters = {"w": jnp.ones((4, 2)), "b": jnp.zeros(2)}

        def update(p: Any, o: Any) -> Any:
            loss = jax.value_and_grad(lambda p: ((x @ p["w"] + p["b"] - y) ** 2).mean())
            value, grads = loss(p)
            updates, o = tx.update(grads, o, p)
            return optax.apply_updates(p, updates), o, value

        return {"s": {"p": parameters, "o": tx.init(parameters)},
                "update": jax.jit(update, donate_argnums=donated)}  # fmt: skip

    def left(names: Names) -> list[Any]:
        return [leaf for leaf in jax.tree.leaves(names["s"]) if isinstance(leaf, jax.Array)]

    as_once(make, "s['p'], s['o'], loss = update(s['p'], s['o'])", left)
