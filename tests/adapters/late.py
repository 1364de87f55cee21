"""Work of JAX's that surely runs on when Python goes on, and takes some time at least.

Neither depends on how fast or how busy the machine is.
"""

import threading
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tests.bench import recorder

SECONDS = 0.02
#: Cleared, it holds back the work that is started.
released = threading.Event()
released.set()
_note, ended = recorder()  # one entry for each work
_starting = threading.local()
#: Set when the call that started the work has returned.
_returned = threading.Event()


def _take_time(_: Any) -> Any:
    # XLA may also call back in a thread of its own while the caller waits for it.
    if not hasattr(_starting, "here") and _returned.wait(1):
        released.wait(60)
        time.sleep(SECONDS)
        _note(1)
    return np.float32(0)


_X = jnp.ones((600, 600))
_product = jax.jit(lambda x: x @ x / 600)
_late = jax.jit(
    lambda x: x + jax.pure_callback(_take_time, jax.ShapeDtypeStruct((), jnp.float32), x[0, 0])
)


def start() -> jax.Array:
    """A result that is still being computed, for `SECONDS` from the call on at least.

    XLA calls back in the caller's thread, before Python goes on, where all inputs are ready: where
    the product was over too soon, this starts once more.
    """
    _starting.here = True
    while True:
        _returned.clear()
        y = _late(_product(_X))
        _returned.set()
        if not y.is_ready():
            return y


def start_held() -> jax.Array:
    """The same; its time begins when it is released."""
    released.clear()
    return start()
