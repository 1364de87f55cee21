"""Plain Python, and what SciPy's neighbours do on one machine."""

from tests.accuracy.ordinary.library import Library

_PYTHON_SETUP = """
import bisect, collections, copy, datetime, decimal, fractions, functools, hashlib, heapq, io
import itertools, json, math, operator, random, re, statistics, string, struct, textwrap, zlib
py_numbers = [(7919 * i) % 10007 for i in range(2000)]
py_words = "the quick brown fox jumps over the lazy dog".split() * 50
py_text = " ".join(py_words)
py_record = {"id": 7, "tags": ["a", "b", "c"], "rows": [{"x": i, "y": i / 3} for i in range(50)]}
py_json = json.dumps(py_record)
py_table = {str(i): i for i in range(1000)}
py_sorted = sorted(py_numbers)
py_bytes = py_text.encode()
py_date = datetime.datetime(2026, 11, 22, 15, 4)
py_pattern = re.compile(r"\\b(\\w)(\\w+)\\b")
py_matrix = [[i * j for j in range(30)] for i in range(30)]
class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y
    def norm(self):
        return math.hypot(self.x, self.y)
py_point = Point(3, 4)
def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a
def primes(n):
    sieve = bytearray([1]) * n
    for i in range(2, int(n ** 0.5) + 1):
        if sieve[i]:
            sieve[i * i::i] = bytes(len(range(i * i, n, i)))
    return [i for i in range(2, n) if sieve[i]]
"""

_PYTHON = r"""
sum(py_numbers)
sorted(py_numbers)
max(py_numbers, key=abs)
[n * n for n in py_numbers]
{n: str(n) for n in py_numbers}
set(py_numbers)
sum(n for n in py_numbers if n % 2)
list(map(str, py_numbers))
list(zip(py_numbers, py_sorted))
list(itertools.accumulate(py_numbers))
py_text.split()
py_text.replace("fox", "cat")
py_text.upper().title()
" ".join(reversed(py_words))
re.findall(r"\w+", py_text)
py_pattern.sub(r"\2\1ay", py_text)
json.dumps(py_record)
json.loads(py_json)
collections.Counter(py_words).most_common(3)
functools.reduce(operator.add, py_numbers)
bisect.bisect(py_sorted, 5000)
heapq.nsmallest(10, py_numbers)
copy.deepcopy(py_record)
hashlib.sha256(py_bytes).hexdigest()
zlib.compress(py_bytes)
math.sqrt(2.0)
fibonacci(300)
primes(20000)
py_point.norm()
Point(1, 2)
py_table["500"]
py_table.get("nothing", 0)
f"{math.pi:.3f} {py_point.x}"
py_date.isoformat()
py_date + datetime.timedelta(days=3)
statistics.median(py_numbers)
decimal.Decimal("1.1") * decimal.Decimal("2.2")
fractions.Fraction(3, 7) + fractions.Fraction(2, 5)
list(zip(*py_matrix))
textwrap.fill(py_text, 70)
struct.pack("<100i", *range(100))
sum(a * b for a, b in zip(py_numbers, py_sorted))
py_total = sum(py_numbers)
py_first, *py_rest = py_numbers
"""

PLAIN = (Library("builtins", _PYTHON_SETUP, _PYTHON),)
