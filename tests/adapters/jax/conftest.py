"""Tests of the adapter to JAX look for little but what they make themselves."""

import gc

import pytest


@pytest.fixture(autouse=True, scope="module")
def what_earlier_files_left_is_no_garbage() -> None:
    """To look through all that JAX keeps of their programs takes longer with each of them."""
    gc.collect()
    gc.freeze()
