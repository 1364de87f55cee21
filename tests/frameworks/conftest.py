"""What other tests have imported changes nothing here."""

import sys

import pytest


@pytest.fixture(autouse=True)
def no_pyplot(monkeypatch: pytest.MonkeyPatch) -> None:
    """With pyplot any code may open figures, whose states come to the others."""
    monkeypatch.delitem(sys.modules, "matplotlib._pylab_helpers", raising=False)
