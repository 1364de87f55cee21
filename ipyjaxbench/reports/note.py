"""One thing to know before believing a number."""

from dataclasses import dataclass

CHANGES_MEANING = "!"
GOOD_TO_KNOW = "·"
OPEN_NOTES = 3  # that are shown whole; a page folds the rest, text shortens it


@dataclass(frozen=True)
class Note:
    """One sentence that a person can act on.

    Attributes:
        code: its name in the closed list, such as "recompiles".
        text: what was seen and how large it is.
        advice: what to write instead; empty if there is nothing to write.
        mark: "!" if it changes the meaning of the number, "·" if it is good to know.
    """

    code: str
    text: str
    advice: str = ""
    mark: str = GOOD_TO_KNOW
