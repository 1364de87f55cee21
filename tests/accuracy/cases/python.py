"""Pure Python: nothing to wait for, and the smallest statements that there are."""

from tests.accuracy.case import Case

_CALL = "def double(n): return n + n"

PYTHON = (
    Case("pass", "pass"),
    Case("assignment", "y = x + 1", setup="x = 3"),
    Case("carried name", "n = n + 1", setup="n = 0"),
    Case("dictionary", "d['k500']", setup="d = {f'k{i}': i for i in range(1000)}"),
    Case("function", "double(21)", setup=_CALL),
    Case("join", "','.join(words)", setup="words = [str(i) for i in range(1000)]"),
    Case("comprehension", "[n * n for n in range(1000)]"),
    Case("sorting", "sorted(xs)", setup="xs = list(range(5000))[::-1]", coverage=True),
    Case("a millisecond", "sum(range(100_000))"),
)
