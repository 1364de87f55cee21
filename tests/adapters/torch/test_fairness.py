"""Threads and dtypes in a comparison with PyTorch."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from tests.comparison.test_compare import run

X = np.random.default_rng(0).random((200, 200), np.float32)
NAMES: dict[str, Any] = {"np": np, "torch": torch, "x": X, "t": torch.from_numpy(X.copy())}
ARMS = {"numpy": "np.dot(x, x)", "torch": "torch.matmul(t, t)"}


@pytest.fixture
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def threads(**options: Any) -> list[str]:
    found = run(ARMS, dict(NAMES), **options)
    return [note.text for note in found.notes if note.code == "other-threads"]


@pytest.mark.skipif(torch.get_num_threads() < 2, reason="there is one CPU only")
def test_one_thread_against_all_is_told(one_thread: None) -> None:
    (text,) = threads()
    assert text.startswith("Different numbers of threads: 1 (torch); ")
    assert text.endswith(" (numpy).")


def test_threads_are_aligned_for_a_while(one_thread: None) -> None:
    assert threads(align=True) == []
    assert torch.get_num_threads() == 1


def test_bfloat16_is_compared_by_what_it_can_hold() -> None:
    names = {**NAMES, "half": NAMES["t"].bfloat16()}
    found = run({"float32": "t + 1", "bfloat16": "half + 1"}, names)
    codes = [note.code for note in found.notes]
    assert "other-result" not in codes
    assert "other-dtype" in codes
