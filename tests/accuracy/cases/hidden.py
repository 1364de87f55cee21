"""Code that leaves work running which its value does not show, and the same waited for by hand."""

from typing import NamedTuple


class Hidden(NamedTuple):
    """One way to hide work.

    Attributes:
        name: its line in the table.
        typed: what the user types after ``%fwtime``.
        by_hand: the same with waiting; the set-up defines ``done``, which waits for one value.
        milliseconds: that the work takes, about.
        calls: of which the mean is the truth, where not every call does the work.
    """

    name: str
    typed: str
    by_hand: str
    milliseconds: float = 5.0
    calls: int = 1


_JAX = """
import collections, contextlib, dataclasses, functools, itertools, threading, types
from concurrent.futures import ThreadPoolExecutor
import jax, jax.numpy as jnp, numpy as np
x = jax.random.normal(jax.random.key(0), (160, 160)) / 160**0.5
@jax.jit
def loop(x, turns):
    return jax.lax.fori_loop(0, turns, lambda _, a: jnp.tanh(a @ x), x)
turns = jnp.int32(1)
def work(x=x): return loop(x, turns)
tiny = jax.jit(lambda x: x.sum())
def done(value): return jax.block_until_ready(value)
store, items, slots, box = {}, [], [None], types.SimpleNamespace()
last = collections.deque(maxlen=1)
def put(value): store["v"] = value
def run(): store["r"] = work()
def drop(): work()
def drop_done(): done(work())
def several():
    for _ in range(3): work()
def bind():
    global bound
    bound = work()
def counter():
    kept = None
    def step():
        nonlocal kept
        kept = work()
    return step
step = counter()
class Model:
    def __init__(self): self.state, self.log = x, {}
    def fit(self): self.state = work(); return self
    def fit_all(self): self.log["s"] = [work()]; return 0.0
    def __setitem__(self, key, value): self.state = value
    @property
    def fitted(self): self.state = work(); return True
    def __enter__(self): self.state = work()
    def __exit__(self, *_): pass
model = Model()
@dataclasses.dataclass
class Pair:
    shown: object
    def train(self): object.__setattr__(self, "hidden", work()); return self.shown
pair = Pair(3)
def logged(f):
    @functools.wraps(f)
    def inner(*args): f(*args); return "ok"
    return inner
fit = logged(work)
def call(f, callback): callback(f())
def in_thread():
    thread = threading.Thread(target=run)
    thread.start(); thread.join()
pool = ThreadPoolExecutor(2)
def guarded():
    try: return len(store)
    finally: put(work())
def imports():
    import jax.numpy as other
    store["o"] = other.tanh(work())
grad = jax.jit(jax.grad(lambda x: loop_sum(x)))
def loop_sum(x):
    for _ in range(40): x = jnp.tanh(x @ x)
    return x.sum()
turn = itertools.count()
def all_but(n):
    if next(turn) % n: work()
def every(n):
    if not next(turn) % n: work()
def every_done(n):
    if not next(turn) % n: done(work())
devices = jax.devices()
far = [jax.device_put(x, device) for device in devices]
many = jnp.stack([x] * len(devices))
mesh = jax.sharding.Mesh(np.array(devices), ("d",))
spread = jax.device_put(many, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d")))
each = jax.jit(jax.vmap(lambda a: jax.lax.fori_loop(0, 4, lambda _, b: jnp.tanh(b @ b), a)))
given = {"p": x + 0}
train = jax.jit(lambda p, t: loop(p, t) / 2, donate_argnums=0)
@jax.jit
def told(x):
    y = jax.lax.fori_loop(0, 20, lambda _, a: jnp.tanh(a @ x), x)
    jax.debug.callback(lambda v: None, y.sum())
    return y
"""
JAX = (
    Hidden("an item of a dict", "store['y'] = work()", "store['y'] = done(work())"),
    Hidden("an item of a list", "slots[0] = work()", "slots[0] = done(work())"),
    Hidden("an attribute", "box.y = work()", "box.y = done(work())"),
    Hidden("an item of an object", "model['y'] = work()", "model['y'] = done(work())"),
    Hidden("a deque", "last.append(work())", "last.append(done(work()))"),
    Hidden("a list that is emptied", "items[:] = [work()]", "items[:] = [done(work())]"),
    Hidden("handed to a function", "put(work())", "put(done(work()))"),
    Hidden("stored by a function", "run()", "run(); done(store)"),
    Hidden("a global", "bind()", "bind(); done(bound)"),
    Hidden("a closure", "step()", "done(work())"),
    Hidden("dropped", "work(); None", "done(work())"),
    Hidden("dropped, then a number", "work(); 1 + 1", "done(work()); 1 + 1"),
    Hidden("dropped by a function", "drop()", "drop_done()"),
    Hidden("three, dropped", "several()", "done([work(), work(), work()])"),
    Hidden("its shape alone", "work().shape", "done(work()).shape"),
    Hidden("its type alone", "str(work().dtype)", "str(done(work()).dtype)"),
    Hidden("a count", "len([work()])", "len([done(work())])"),
    Hidden("an older array is shown", "(work(), x)[1]", "(done(work()), x)[1]"),
    Hidden("a small part is shown", "{'s': tiny(x), 'b': work()}['s']",
           "done({'s': tiny(x), 'b': work()})['s']"),
    Hidden("a method, object shown", "model.fit().log", "done(model.fit().state)"),
    Hidden("a method, number shown", "model.fit_all()", "model.fit_all(); done(model.log)"),
    Hidden("a property", "model.fitted", "model.fitted; done(model.state)"),
    Hidden("a with block", "with model: pass", "model.__enter__(); done(model.state)"),
    Hidden("a dataclass", "pair.train()", "pair.train(); done(pair.hidden)"),
    Hidden("a decorator", "fit(x)", "done(work(x))"),
    Hidden("a callback", "call(work, put)", "call(work, put); done(store)"),
    Hidden("a thread", "in_thread()", "in_thread(); done(store)"),
    Hidden("a pool of threads", "pool.submit(run).result()",
           "pool.submit(run).result(); done(store)"),
    Hidden("a finally block", "guarded()", "guarded(); done(store)"),
    Hidden("an import in a function", "imports()", "imports(); done(store)"),
    Hidden("a gradient", "store['g'] = grad(x)", "store['g'] = done(grad(x))"),
    Hidden("eager, dropped", "loop_sum(x); None", "done(loop_sum(x))"),
    Hidden("every 2nd call", "every(2)", "every_done(2)", calls=2),
    Hidden("every 3rd call", "every(3)", "every_done(3)", calls=3),
    Hidden("every 3rd call, waited for", "every_done(3)", "every_done(3)", calls=3),
    Hidden("all calls but every 30th", "all_but(30)", "done(work())"),
    Hidden("all calls but every 50th", "all_but(50)", "done(work())"),
    Hidden("another device", "store['f'] = work(far[2])", "store['f'] = done(work(far[2]))"),
    Hidden("two devices, one shown", "(work(far[1]), tiny(far[3]))[1]",
           "done((work(far[1]), tiny(far[3])))[1]"),
    Hidden("cut over four devices", "store['e'] = each(spread)", "store['e'] = done(each(spread))"),
    Hidden("given away", "given['p'] = train(given['p'], turns)",
           "given['p'] = done(train(given['p'], turns))"),
    Hidden("with a callback to Python", "told(x); None", "done(told(x)); jax.effects_barrier()"),
    Hidden("1 ms", "put(work())", "put(done(work()))", 1),
    Hidden("1 ms, dropped", "work(); None", "done(work())", 1),
    Hidden("50 ms", "put(work())", "put(done(work()))", 50),
    Hidden("200 ms", "store['y'] = work()", "store['y'] = done(work())", 200),
    Hidden("450 ms", "put(work())", "put(done(work()))", 450),
    Hidden("450 ms, dropped", "work(); None", "done(work())", 450),
)  # fmt: skip

_TENSORFLOW = """
import tensorflow as tf
tf.config.experimental.set_synchronous_execution(False)
x = tf.random.normal((160, 160)) / 160**0.5
turns = 1
def work(x=x):
    for _ in range(turns): x = tf.tanh(x @ x)
    return x
graph = tf.function(work)
variable, store = tf.Variable(x), {}
def done(value=None): tf.test.experimental.sync_devices(); return value
"""
TENSORFLOW = (
    Hidden("async: an item of a dict", "store['y'] = work()", "store['y'] = done(work())"),
    Hidden("async: dropped", "work(); None", "done(work())"),
    Hidden("async: a variable", "variable.assign(work()); 1", "variable.assign(work()); done()"),
    Hidden("async: its shape alone", "work().shape", "done(work()).shape"),
    Hidden("async: 200 ms", "store['y'] = work()", "store['y'] = done(work())", 200),
)
HIDDEN = {"jax": (_JAX, JAX), "tensorflow": (_TENSORFLOW, TENSORFLOW)}
