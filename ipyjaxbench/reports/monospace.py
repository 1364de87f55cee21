"""Text by the cells of a terminal that it takes: a wide letter takes two, a combining mark none.

A terminal cuts off what is too wide, so whatever stands beside a name counts cells, not letters.
"""

from collections.abc import Iterable, Sequence
from itertools import takewhile

from ipyjaxbench import units

ELLIPSIS = "…"
_FEWEST_WORDS = 4  # of a sentence that is cut at one: a mark, two spaces and some words
_SIGN = len("...")  # cells kept for the ellipsis: the same letters stay where it is spelled out


def width(text: str) -> int:
    """Return how many cells a text takes.

    >>> width("jax"), width("行列"), width("e\u0301")
    (3, 4, 1)
    """
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def widest(texts: Iterable[str]) -> int:
    """Return how many cells the widest of some texts takes."""
    return max(map(width, texts), default=0)


def shorten(text: str, most: int, sign: str = ELLIPSIS) -> str:
    """Return a text of at most so many cells: its ends say more than its middle.

    >>> shorten("train_step_of_the_encoder", 15), shorten("jax", 15)
    ('train_…ncoder', 'jax')
    """
    if width(text) <= most:
        return text
    half = (most - _SIGN) // 2
    if half < 1:
        return _start(text, max(most - 1, 0)) + sign
    return _start(text, half) + sign + _end(text, half)


def cut(text: str, most: int, sign: str = ELLIPSIS) -> str:
    """Return a text of at most so many cells, without its end: for words that are read on.

    >>> cut("y = jnp.tanh(x)", 10)
    'y = jnp.t…'
    """
    return text if width(text) <= most else _start(text, max(most - len(sign), 0)) + sign


def cut_at_word(text: str, most: int, sign: str = ELLIPSIS) -> str:
    """Return a sentence of at most so many cells, which says how many words it lacks.

    >>> cut_at_word("the time does not include displaying it", 30)
    'the time does not … +3 words'
    """
    words = text.split(" ")
    for kept in range(len(words), _FEWEST_WORDS - 1, -1):
        lacks = f" {sign} +{units.count(len(words) - kept, 'word')}" if kept < len(words) else ""
        if width(shown := " ".join(words[:kept]) + lacks) <= most:
            return shown
    return cut(text, most, sign)


def shorten_all(texts: Sequence[str], most: int, sign: str = ELLIPSIS) -> list[str]:
    """Return texts of at most so many cells, which stay distinct as far as there is room.

    >>> shorten_all(["loss_of_encoder_a_in_training", "loss_of_encoder_b_in_training"], 16)
    ['…_a_in…ining', '…_b_in…ining']
    """
    short = [shorten(text, most, sign) for text in texts]
    alike: dict[str, set[str]] = {}
    for text, shown in zip(texts, short, strict=True):
        alike.setdefault(shown, set()).add(text)
    return [
        _from_difference(text, alike[shown], most, sign) if len(alike[shown]) > 1 else shown
        for text, shown in zip(texts, short, strict=True)
    ]


def left(text: str, cells: int) -> str:
    """Return a text with blanks after it, so that it takes so many cells."""
    return text + " " * (cells - width(text))


def right(text: str, cells: int) -> str:
    """Return a text with blanks before it."""
    return " " * (cells - width(text)) + text


def centre(text: str, cells: int) -> str:
    """Return a text with blanks on both sides."""
    return left(" " * ((cells - width(text)) // 2) + text, cells)


def beside(name: str, figure: str, most: int) -> list[str]:
    """Return a line with a name and its figure, which stays whole: below the name if it must.

    >>> beside("jax", "2.12 ms", 20), beside("train_step", "2.12 ms · 3.8× faster", 25)
    (['jax  2.12 ms'], ['train_step', '  2.12 ms · 3.8× faster'])
    """
    if width(name) + 2 + width(figure) <= most:
        return [f"{name}  {figure}"]
    return [shorten(name, most), f"  {figure}"]


def _from_difference(text: str, others: set[str], most: int, sign: str) -> str:
    """Return a text from just before where it differs from the others."""
    columns = zip(*others, strict=False)
    same = len([*takewhile(lambda letters: len({*letters}) == 1, columns)])
    rest = text[max(same - 1, 0) :]
    return sign + shorten(rest, most - _SIGN, sign)


def _start(text: str, cells: int) -> str:
    end = 0
    while end < len(text) and width(text[: end + 1]) <= cells:
        end += 1
    return text[:end]


def _end(text: str, cells: int) -> str:
    start = len(text)
    while start and width(text[start - 1 :]) <= cells:
        start -= 1
    while start < len(text) and not width(text[start]):  # a mark belongs to the letter before it
        start += 1
    return text[start:]
