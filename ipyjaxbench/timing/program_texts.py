"""The compiled programs that code calls, as texts that can be held against another time's."""

from itertools import islice

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import Scope, loaded
from ipyjaxbench.timing.known_calls import find_known_calls
from ipyjaxbench.usercode import Snippet

_MAX_PROGRAMS = 4


def find_program_texts(snippet: Snippet) -> dict[str, str]:
    """Return the compiled programs of calls that each run makes, by what is called.

    Nothing is compiled or evaluated: calls whose programs are not in memory are left out, and
    those whose arguments are more than names, attributes and constants.
    """
    frameworks, _ = loaded()
    texts: dict[str, str] = {}
    try:
        scope = Scope(snippet, frameworks)
    except CODE_ERRORS:  # objects of the user's may answer what they like
        return texts
    for call in islice(find_known_calls(scope, frameworks), _MAX_PROGRAMS):
        try:
            text = call.compiler.compiled_text(call.function, *call.arguments())
        except CODE_ERRORS:  # arguments may be gone by now, or are not known
            continue
        if text is not None:
            texts.setdefault(call.name, text)
    return texts
