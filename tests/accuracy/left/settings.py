"""Settings of the whole process that cells change: read, and compared as values are."""

import gc
import logging
import os
import random
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any


def settings() -> dict[str, Any]:
    """Read those of Python and of the libraries that are imported."""
    found: dict[str, Any] = {}
    for name, rows in _ROWS.items():
        if name in sys.modules:
            found |= {f"{name}: {label}": value for label, value in rows(sys.modules[name])}
    return found


Rows = Iterator[tuple[str, Any]]


def _python(_: Any) -> Rows:
    yield "the working directory", os.getcwd()
    yield "umask", _umask()
    yield "environ", {n: v for n, v in os.environ.items() if not n.startswith("TF_")}
    yield "path", [*sys.path]
    yield "limits", [sys.getrecursionlimit(), sys.get_int_max_str_digits()]
    yield "gc", [gc.isenabled(), gc.get_threshold(), gc.get_debug()]
    yield "warnings", len(warnings.filters)
    yield "random", random.getstate()
    yield "logging", [logging.root.level, len(logging.root.handlers), logging.root.manager.disable]
    yield "zq", logging.getLogger("zq")
    yield "timers", sum(isinstance(each, threading.Timer) for each in threading.enumerate())


def _umask() -> int:
    os.umask(mask := os.umask(0))
    return mask


def _numpy(np: Any) -> Rows:
    yield "printing", np.get_printoptions()
    yield "errors", [np.geterr(), np.geterrcall(), np.getbufsize()]
    yield "random", np.random.get_state()


def _pandas(pd: Any) -> Rows:
    yield "options", pd.options.d


def _pyplot(plt: Any) -> Rows:
    yield "rcParams", dict(plt.rcParams)
    yield "figures", plt.get_fignums()


def _torch(torch: Any) -> Rows:
    b = torch.backends
    yield "dtypes", [str(torch.get_default_dtype()), str(torch.get_default_device())]
    yield "random", torch.get_rng_state()
    yield "modes", [torch.is_grad_enabled(), torch.is_anomaly_enabled(), torch.get_num_threads()]
    yield "precision", torch.get_float32_matmul_precision()
    yield "flags", [b.cudnn.enabled, b.cudnn.benchmark, b.cudnn.deterministic, b.cudnn.allow_tf32]


def _jax(jax: Any) -> Rows:
    yield "config", dict(jax.config.values)


def _tensorflow(tf: Any) -> Rows:
    config = tf.config
    yield "config", [config.functions_run_eagerly(), config.get_soft_device_placement()]
    yield "logger", tf.get_logger().level


def _keras(keras: Any) -> Rows:
    yield "config", [keras.config.floatx(), keras.config.epsilon()]
    yield "policy", keras.config.dtype_policy().name


_ROWS: Mapping[str, Callable[[Any], Rows]] = {
    "sys": _python, "numpy": _numpy, "pandas": _pandas, "matplotlib.pyplot": _pyplot,
    "torch": _torch, "jax": _jax, "tensorflow": _tensorflow, "keras": _keras,
}  # fmt: skip
