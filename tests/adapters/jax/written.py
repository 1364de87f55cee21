"""Functions of a few lines, and why JAX would not trace them."""

import math
import textwrap
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ipyjaxbench
from ipyjaxbench import Diagnosis, UntraceableError
from tests.adapters.shared.code import function_of

NAMES: dict[str, Any] = {"jax": jax, "jnp": jnp, "np": np, "math": math}


def written(parameters: str, lines: str, **names: Any) -> Any:
    """A function of these lines, whose source can be read."""
    text = f"def f({parameters}):\n{textwrap.indent(lines, '    ')}"
    return function_of(text, **NAMES, **names)


def why(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Diagnosis:
    """Why a call does not trace."""
    with pytest.raises(UntraceableError) as caught:
        ipyjaxbench.graph(function, *args, **kwargs)
    return caught.value.diagnosis
