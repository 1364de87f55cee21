"""A module as users write them: names, containers, objects, and functions that change them."""

import logging
from typing import Any

N = 0
LIST: list[int] = []
TABLE: dict[Any, int] = {}
log = logging.getLogger("tests.user_module")


class Kept(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[object] = []

    def emit(self, record: object) -> None:
        self.records.append(record)


class Counting:
    count = 0

    def __init__(self) -> None:
        self.n = 0

    def __call__(self) -> None:
        self.n += 1

    def __add__(self, other: int) -> "Counting":
        LIST.append(other)
        return self

    def __getitem__(self, key: int) -> int:
        TABLE[key] = TABLE.get(key, 0) + 1
        return key

    def __del__(self) -> None:
        LIST.append(0)


def bump() -> None:
    global N
    N += 1


def bump_unseen() -> None:
    globals()["N"] += 1


def change_environment() -> None:
    import os

    os.environ["FW_DEEP"] += "x"
