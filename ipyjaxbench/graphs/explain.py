"""Says why code that failed would not trace: asks the framework that raised the error."""

from ipyjaxbench.errors import CODE_ERRORS, SnippetError, short_errors
from ipyjaxbench.frameworks import loaded
from ipyjaxbench.graphs.diagnosis import Diagnosis
from ipyjaxbench.graphs.protocol import GraphTracer
from ipyjaxbench.graphs.rollback import rolled_back, roots_in
from ipyjaxbench.graphs.trace_program import NO_PROGRAMS
from ipyjaxbench.usercode import attributes, is_of, name_of, package_of


@short_errors
def explain(error: BaseException) -> Diagnosis:
    """Explain why code failed to trace.

    The code is not run again: the function that was traced is traced once more.

    Args:
        error: what it raised, with its traceback.

    Returns:
        The diagnosis.

    Raises:
        SnippetError: it is no error, or has nothing to do with tracing, as far as can be seen.

    Example:
        >>> # try: step(x)
        >>> # except Exception as error: print(explain(error))
    """
    __tracebackhide__ = True
    if not is_of(error, BaseException):
        try:
            shown = f"{error!r}"  # in here a text, too, that is no plain one
        except CODE_ERRORS:  # an object may answer what it likes
            shown = f"a {name_of(type(error))}"
        raise SnippetError(f"explain needs an exception, not {shown}")
    known = attributes(error).get("diagnosis")
    if isinstance(known, Diagnosis):
        return known
    makers = [each for each in loaded()[0] if each.name not in NO_PROGRAMS]
    # First whose error it is: for the others its arrays would have to be copied.
    for framework in sorted(makers, key=lambda each: package_of(type(error)) != each.module):
        with rolled_back(roots_in(error), framework):
            diagnosis = framework.capability(GraphTracer).explain(error)
        if diagnosis is not None:
            return diagnosis
    raise SnippetError(
        f"this {type(error).__name__} did not come from tracing. %tb shows the traceback."
    )
