"""Which framework says why code failed."""

import json

import pytest

from ipyjaxbench import explain
from ipyjaxbench.errors import SnippetError
from ipyjaxbench.graphs import Diagnosis, UntraceableError
from tests.graphs.conftest import Frameworks

KNOWN = Diagnosis("f(x)", "TypeError", "no", 1, "f(x)", "it asks")


def test_the_framework_of_the_error_is_asked_first(frameworks: Frameworks) -> None:
    with pytest.raises(SnippetError) as raised:
        explain(KeyError("a"))
    words = "did not come from tracing. %tb shows the traceback."
    assert str(raised.value) == f"this KeyError {words}"
    frameworks.one.explains = lambda _: KNOWN
    assert explain(ValueError("no")) is KNOWN
    assert explain(json.JSONDecodeError("no", "", 0)) is KNOWN
    assert frameworks.asked == ["one", "two", "one", "two", "one"]
    error = UntraceableError(KNOWN, ValueError("no"))
    assert str(error) == "TypeError: no"
    assert explain(error) is KNOWN  # what was explained before is not looked at again
    assert len(frameworks.asked) == 5


class Mute:
    """It cannot be shown."""

    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(("value", "shown"), [(3, "3"), (ValueError, "<class 'ValueError'>")])
def test_what_is_no_error_is_refused(value: object, shown: str) -> None:
    with pytest.raises(SnippetError) as raised:
        explain(value)  # type: ignore[arg-type]
    assert str(raised.value) == f"explain needs an exception, not {shown}"
    with pytest.raises(SnippetError, match="not a Mute"):
        explain(Mute())  # type: ignore[arg-type]


def test_what_explaining_changes_is_put_back(frameworks: Frameworks) -> None:
    items = [1]

    def fail() -> None:
        items.append(2)
        raise KeyError

    def explains(error: BaseException) -> Diagnosis:
        items.append(3)
        return KNOWN

    frameworks.one.explains = explains
    with pytest.raises(KeyError) as raised:
        fail()
    assert explain(raised.value) is KNOWN
    assert items == [1, 2]
