"""Every error that a user can cause; each is one line that says what to type instead.

IpyJaxBenchError
├── OptionError     an option is unknown, or its value breaks a rule
├── SnippetError    the code cannot be measured (empty, a string)
├── RecordError     a saved record is not one that this version can read
├── MissingLibraryError   a library that only this part needs is not installed
└── TooManyTracesError    more was traced than is allowed
"""


class IpyJaxBenchError(Exception):
    """An error whose message names the value, the rule and what to type instead."""


class OptionError(IpyJaxBenchError):
    """An option is unknown, or its value breaks a rule."""


class SnippetError(IpyJaxBenchError):
    """The code given cannot be measured."""


class RecordError(IpyJaxBenchError):
    """A saved record cannot be read back."""


class MissingLibraryError(IpyJaxBenchError, ImportError):
    """A library that only this part needs is not installed."""

    def __init__(self, library: str, extra: str = "plot") -> None:
        super().__init__(f"{library} is not installed: pip install ipyjaxbench[{extra}]")


class TooManyTracesError(IpyJaxBenchError, AssertionError):
    """More was traced than is allowed."""
