"""What code prints on engines: recorded there, shown here with the names of the engines."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from ipyjaxbench.cluster.rank_names import name_ranks
from ipyjaxbench.usercode import OutputRecorder, Written

_MAX_PRINTED = 20_000  # letters that travel
_CUT = "\n... (the rest of the output was left out)\n"


@contextmanager
def recorded(printed: list[str]) -> Iterator[None]:
    """Record what this thread writes to standard output and error; it is written all the same."""
    recorders = [OutputRecorder(name) for name in ("stdout", "stderr")]
    written: list[Written] = []
    with ExitStack() as stack:
        before = [stack.enter_context(each).begin() for each in recorders]
        try:
            yield
        finally:
            for recorder, other in zip(recorders, before, strict=True):
                written += recorder.end(other)
            text = "".join(part for _, part in sorted(written, key=lambda each: each[0]))
            printed.append(text[:_MAX_PRINTED] + _CUT * (len(text) > _MAX_PRINTED))


def join_printed(labels: Sequence[str], texts: Sequence[str]) -> str:
    """Return what ranks printed, each text once, with the ranks that printed it."""
    groups: dict[str, list[str]] = {}
    for label, text in zip(labels, texts, strict=True):
        if text:
            groups.setdefault(text, []).append(label)
    return "".join(
        f"[{name_ranks(own)}]\n{text}{'' if text.endswith(chr(10)) else chr(10)}"
        for text, own in groups.items()
    )
