"""Cells of Python, NumPy, pandas and matplotlib."""

from tests.accuracy.left.cells import Cells

# ruff: noqa: E501  # a cell is a line

_PYTHON_SETUP = """
import array, asyncio, bisect, collections, contextlib, contextvars, copy, csv, ctypes, dataclasses
import multiprocessing
import decimal, functools, gc, heapq, io, itertools, json, logging, math, mmap, os, queue, random
import sqlite3, string, sys, tempfile, threading, types, warnings, weakref
random.seed(3)
x, d, s, t = [3, 1, 2], {"a": [1]}, {1, 2}, ([1], 2)
class Point:
    made = 0
    def __init__(self, x=0):
        self.x, self.seen = x, []
        type(self).made += 1
    def move(self):
        self.x += 1
        self.seen.append(self.x)
        return self
    def __iadd__(self, other):
        self.x += other
        return self
class Slots:
    __slots__ = ("n", "held")
    def __init__(self):
        self.n, self.held = 0, []
@dataclasses.dataclass
class Record:
    n: int = 0
    items: list = dataclasses.field(default_factory=list)
p, q = Point(), Slots()
def counter():
    n = 0
    def count():
        nonlocal n
        n += 1
        return n
    return count
"""

_PYTHON = r"""
|| x.append(4)
|| x.insert(0, len(x))
|| x.sort()
|| x.reverse()
|| x += [1]
|| x = x + [1]
|| x.pop()
|| x[0] += 1
|| x[:] = x[1:] + x[:1]
|| del x[0]
|| d["a"].append(2)
|| d[len(d)] = 1
|| d.setdefault("b", []).append(1)
|| d |= {len(d): 0}
|| d.popitem()
|| s.add(len(s) + 5)
|| s ^= {1}
|| t[0].append(1)
|| p.move()
|| p += 1
|| p.move().move()
|| p.new = getattr(p, "new", 0) + 1
|| p = Point(p.x + 1)
|| Point.made += 1
|| Point()
|| q.n += 1; q.held.append(q.n)
r = Record() || r.n += 1; r.items.append(r.n)
c = counter() || c()
c = counter(); e = c || y = c() + e()
def f(to=[]): to.append(1) || f()
def f(): f.calls = getattr(f, "calls", 0) + 1 || f()
f = functools.partial(x.append, 3) || f()
n = 0 || n += 1
n = 0 || globals()["n"] += 1
n = 0 || exec("n += 1")
g = (i for i in range(10**7)) || next(g)
it = iter(range(10**7)) || next(it)
it = itertools.count() || next(it)
it = itertools.cycle([1, 2, 3]) || next(it)
it = iter([*range(10**7)]) || next(it)
it = itertools.tee(range(10**6))[0] || next(it)
e = enumerate(itertools.count()) || next(e)
b = bytearray(8) || b[0] = (b[0] + 1) % 256
a = array.array("i", [0]) || a.append(len(a))
m = memoryview(bytearray(4)) || m[0] = (m[0] + 1) % 256
m = mmap.mmap(-1, 64) || m[0] = (m[0] + 1) % 256
m = mmap.mmap(-1, 10**7) || m.write(b"x")
c = (ctypes.c_long * 3)() || c[0] += 1
dq = collections.deque([1, 2, 3]) || dq.rotate(1)
dq = collections.deque([1, 2, 3], 3) || dq.append(len(dq) + dq[0])
c = collections.Counter() || c["a"] += 1
o = collections.OrderedDict(a=1, b=2, c=3) || o.move_to_end(next(iter(o)))
dd = collections.defaultdict(list) || dd["a"].append(1)
cm = collections.ChainMap({}, {"a": 1}) || cm["a"] += 1
ns = types.SimpleNamespace(n=0) || ns.n += 1
h = [] || heapq.heappush(h, 1)
h = [] || bisect.insort(h, random.random())
|| y = random.random()
r = random.Random(3) || r.random()
|| random.shuffle(x)
|| random.seed(5)
io_ = io.StringIO() || io_.write("x")
io_ = io.BytesIO() || io_.write(b"x")
f = tempfile.TemporaryFile("w+"); f.write("x" * 10**6); f.seek(0) || f.read(1) || f.close()
f = tempfile.TemporaryFile("w") || f.write("x") || f.close()
w = csv.writer(io_ := io.StringIO()) || w.writerow([1])
r = csv.reader(str(i) for i in range(10**7)) || next(r)
q_ = queue.Queue() || q_.put(1)
q_ = queue.PriorityQueue() || q_.put(1)
q_ = queue.SimpleQueue() || q_.put(1) || || q_.qsize()
s_ = threading.Semaphore(10**9) || s_.acquire(blocking=False)
ev = threading.Event() || ev.clear() if ev.is_set() else ev.set()
lo = threading.local(); lo.n = 0 || lo.n += 1
lk = threading.RLock() || lk.acquire()
v = multiprocessing.Value("i", 0) || v.value += 1 || || v.value
aq = asyncio.Queue() || aq.put_nowait(1)
ae = asyncio.Event() || ae.set()
v = contextvars.ContextVar("v", default=0) || v.set(v.get() + 1)
w = weakref.WeakValueDictionary(); k = [] || k.append(Point()); w[len(k)] = k[-1] || || len(w)
cache = functools.lru_cache(None)(lambda n: n); n = 0 || n += 1; cache(random.random())
f = (lambda g: lambda: g(random.random()))(functools.cache(lambda n: n)) || f()
db = sqlite3.connect(":memory:"); db.execute("create table t (a)") || db.execute("insert into t values (1)")
st = contextlib.ExitStack() || st.callback(print) || st.pop_all() || len(st._exit_callbacks)
|| os.environ["FW_LEFT"] = os.environ.get("FW_LEFT", "") + "x" || os.environ.pop("FW_LEFT")
here = os.getcwd(); os.chdir(tempfile.gettempdir()) || os.chdir("..") || os.chdir(here)
n = os.umask(0) || os.umask(os.umask(0) + 1) || os.umask(n)
|| sys.path.append("zzz") || sys.path[:] = [each for each in sys.path if each != "zzz"]
n = sys.getrecursionlimit() || sys.setrecursionlimit(sys.getrecursionlimit() + 1) || sys.setrecursionlimit(n)
|| sys.set_int_max_str_digits(sys.get_int_max_str_digits() + 1) || sys.set_int_max_str_digits(4300)
|| gc.disable() if gc.isenabled() else gc.enable() || gc.enable()
n = gc.get_threshold() || gc.set_threshold(gc.get_threshold()[0] + 1) || gc.set_threshold(*n)
n = [*warnings.filters] || warnings.filterwarnings("ignore", str(len(warnings.filters))) || warnings.filters[:] = n
|| logging.getLogger("zq").addHandler(logging.NullHandler()) || logging.getLogger("zq").handlers.clear()
|| logging.getLogger("zq").setLevel(logging.getLogger("zq").level + 1) || logging.getLogger("zq").setLevel(0)
|| decimal.getcontext().prec += 1 || decimal.getcontext().prec = 28
|| threading.Timer(60, print).start() || [each.cancel() or each.join() for each in threading.enumerate() if isinstance(each, threading.Timer)]
th = threading.Thread(target=x.append, args=(1,)) || th = threading.Thread(target=x.append, args=(1,)); th.start(); th.join()
o = copy.deepcopy(d) || o["a"].append(len(o["a"])); d["b"] = o
|| y = [x.append(i) for i in range(3)]
|| x, y = [*x, 1], x
|| for i in range(3): p.move()
k = {} || k[Point()] = 1
"""

_NUMPY_SETUP = """
import numpy as np, random
np.random.seed(0)
x, y, m = np.arange(6.0), np.ones(6), np.eye(3)
rng = np.random.default_rng(3)
"""
_NUMPY = r"""
|| x += 1
|| x *= 2
|| x[0] += 1
|| x[x > 2] -= 1
|| x.sort()
|| np.add(x, y, out=x)
|| np.add.at(x, [0, 0], 1)
|| x = x + 1
|| x.fill(x[0] + 1)
|| x.resize(x.size + 1, refcheck=False)
|| x.shape = x.shape[::-1] + (1,) * (x.ndim < 2)
|| m.T[0, 1] += 1
v = x[::2] || v += 1
v = x.reshape(2, 3) || v[0] += 1; x[5] -= 1
|| x.flags.writeable = not x.flags.writeable
|| np.copyto(x, x + 1)
|| np.put(x, [0], x[0] + 1)
|| np.random.shuffle(x)
|| z = np.random.rand(3)
|| z = rng.normal(size=3)
|| rng.shuffle(x)
ss = np.random.SeedSequence(3) || ss.spawn(1)
|| rng.spawn(1)
rs = np.random.RandomState(0) || rs.rand()
o = np.array([[], {}], dtype=object) || o[0].append(1)
o = np.array([None, None]) || o[0] = [o[0]]
st = np.zeros(3, "i4, f8") || st["f0"] += 1
st = np.zeros(3, "i4, f8") || st.dtype.names = [n + "x" for n in st.dtype.names]
ma = np.ma.array([1, 2, 3]) || ma[0] = np.ma.masked; ma += 1
c = np.zeros(2, complex) || c += 1j
h = np.zeros(3, np.float16) || h += 1
u = np.array([250], np.uint8) || u += 1
w = np.array(["a", "b"]) || w[0] = w[1]; w[1] = "c"
n = np.get_printoptions() || np.set_printoptions(precision=np.get_printoptions()["precision"] + 1) || np.set_printoptions(**n)
n = np.geterr() || np.seterr(over={"warn": "raise", "raise": "ignore", "ignore": "warn"}[np.geterr()["over"]]) || np.seterr(**n)
|| np.setbufsize(np.getbufsize() + 16) || np.setbufsize(8192)
it = np.nditer(np.broadcast_to(0, 10**9)) || next(it) || || it.iterindex
it = np.ndenumerate(np.broadcast_to(0, 10**9)) || next(it) || || next(it)
"""

_PANDAS_SETUP = """
import numpy as np, pandas as pd
df = pd.DataFrame({"a": [3, 1, 2], "b": ["x", "y", "z"]})
s = pd.Series([1.0, 2.0, 3.0], name="s")
"""
_PANDAS = r"""
|| df["a"] += 1
|| df["c"] = range(3)
|| df[len(df.columns)] = 1
|| df.loc[len(df)] = [0, "w"]
|| df.loc[0, "a"] += 1
|| df.iloc[0, 0] += 1
|| df.at[0, "b"] += "x"
|| df.drop(columns=df.columns[-1], inplace=True)
|| df.sort_values("a", inplace=True)
|| df.columns = [f"{each}_" for each in df.columns]
|| df.index = df.index + 1
|| df.index.name = f"{df.index.name}x"
|| df.rename(columns=str.swapcase, inplace=True)
|| df.insert(0, f"n{len(df.columns)}", 0)
|| df.attrs["n"] = df.attrs.get("n", 0) + 1
|| df.flags.allows_duplicate_labels = not df.flags.allows_duplicate_labels
|| s += 1
|| s[0] += 1
|| s.loc[len(s)] = 0.0
|| s.name += "x"
|| s.update(s + 1)
|| v = df.pop("a") if "a" in df else df.insert(0, "a", 1)
c = pd.Series(["a", "b"], dtype="category") || c = c.cat.add_categories(str(len(c.cat.categories)))
t = pd.Series(pd.date_range("2026", periods=3)) || t += pd.Timedelta(days=1)
n = pd.array([1, None], dtype="Int64") || n[0] += 1
|| pd.set_option("display.max_rows", pd.get_option("display.max_rows") + 1) || pd.reset_option("display.max_rows")
|| pd.options.display.width += 1 || pd.reset_option("display.width")
"""

_MATPLOTLIB_SETUP = """
import matplotlib; matplotlib.use("agg")
import matplotlib.pyplot as plt, numpy as np
plt.close("all")
x = np.arange(5.0)
"""
_MATPLOTLIB = r"""
|| fig, ax = plt.subplots(); ax.plot(x) || plt.close("all")
|| plt.plot(x) || plt.close("all")
|| fig = plt.figure() || plt.close("all")
fig, ax = plt.subplots() || ax.plot(x) || plt.close("all")
fig, ax = plt.subplots() || ax.scatter(x, x) || plt.close("all")
fig, ax = plt.subplots() || ax.bar(x, x) || plt.close("all")
fig, ax = plt.subplots() || ax.set_title(ax.get_title() + "x") || plt.close("all")
fig, ax = plt.subplots() || ax.text(0, 0, "x") || plt.close("all")
fig, ax = plt.subplots(); (line,) = ax.plot(x) || line.set_ydata(line.get_ydata() + 1) || plt.close("all")
fig, ax = plt.subplots(); ax.set_xlim(0, 1) || ax.set_xlim(0, ax.get_xlim()[1] + 1) || plt.close("all")
fig = plt.figure() || fig.add_subplot() || plt.close("all")
|| plt.rcParams["lines.linewidth"] += 1 || plt.rcdefaults(); matplotlib.use("agg")
"""

LIBRARIES = {
    "python": (Cells("builtins", _PYTHON_SETUP, _PYTHON),),
    "numpy": (
        Cells("numpy", _NUMPY_SETUP, _NUMPY),
        Cells("pandas", _PANDAS_SETUP, _PANDAS),
        Cells("matplotlib", _MATPLOTLIB_SETUP, _MATPLOTLIB),
    ),
}
