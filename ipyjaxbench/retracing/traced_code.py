"""What a program was compiled from, as far as it can be looked at again."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ipyjaxbench.usercode import Reads


class TracedCode(ABC):
    """A compiled function as it is called once; it keeps no array."""

    #: What is not known of it however it is looked at, after "whether f"; empty if nothing.
    unknown: ClassVar[str] = ""
    #: Whether a call that it serves may find another trace, so that all of these are to be asked.
    is_one_of_several: ClassVar[bool] = False

    @abstractmethod
    def reads(self) -> Reads | None:
        """Return what the function reads now of names around it; None where it is a library's."""

    @abstractmethod
    def is_another_program(self, compiled: Any, *, if_unsure: bool | None = True) -> bool | None:
        """Whether tracing it now gives another program than the cached one; None if not known.

        Args:
            compiled: the function as it is called.
            if_unsure: the answer where programs cannot be compared, but what was read is another.
        """

    def needs(self, before: Mapping[str, Any]) -> tuple[str, ...] | None:  # noqa: ARG002
        """Return which names, given what they stood for, make it another program than today's.

        With "" where only several at once do; None if that is not known.
        """
        return None

    def is_given_by(self, before: Mapping[str, Any]) -> bool | None:  # noqa: ARG002
        """Whether it is today's program with what some names stood for then: no more is a cause.

        None if that is not known.
        """
        return None

    def names_used(self) -> tuple[frozenset[str], frozenset[str]] | None:
        """Return which names its code loads where it is traced now, and which it changes.

        None if that is not known.
        """
        return None

    def not_data(self, numbers: Mapping[str, Any]) -> tuple[str, ...] | None:  # noqa: ARG002
        """Return which names, given the numbers they stood for, cannot be data of a call.

        None if that is not known.
        """
        return None

    @property
    def assigned(self) -> tuple[str, ...]:
        """Names around it that tracing it assigns, and may read."""
        return ()

    @property
    def holds_arrays(self) -> bool:
        """Whether its program has arrays of the user's in it that can change in place."""
        return False

    @property
    def has_rules(self) -> bool:
        """Whether code of the user's says how it is differentiated, which no program tells."""
        return False

    @abstractmethod
    def is_dropped(self) -> bool:
        """Whether the framework has dropped the program since; False where that is not known."""

    def serves(self, compiled: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:  # noqa: ARG002
        """Whether it is what a call finds, also where its signature is another one."""
        return False
