"""Ways to call a compiled function in a cell: directly, through objects, and through other code."""

from collections.abc import Mapping

from tests.shell import Shell

#: What all of them find: `compiles` and `of_method` compile a function and a method.
_START = """\
import asyncio, concurrent.futures, dataclasses, functools, operator, threading, types
def plain(x): return x + 1
f = compiles(plain)
class Model:
    def step(self, x): return x + 1
    step = of_method(step)
    __call__ = __matmul__ = step
    @property
    def go(self): return self.step
    fixed = staticmethod(compiles(plain))
@dataclasses.dataclass(frozen=True)
class Scale:
    by: float
    @of_method
    def __call__(self, x): return x * self.by
def logged(function):
    @functools.wraps(function)
    def around(*args): return function(*args)
    return around
async def away(x): return await asyncio.to_thread(f, x)
m, box, table = Model(), types.SimpleNamespace(f=f), {"f": f, "all": [f]}
"""
#: The lines before a call, and the call, by what they are.
WAYS = {
    "name": ("", "f(x)"),
    "attribute of a plain object": ("", "box.f(x)"),
    "item": ("", "table['f'](x)"),
    "item of an item": ("", "table['all'][0](x)"),
    "method": ("", "m.step(x)"),
    "__call__ of a plain class": ("", "m(x)"),
    "__call__ of a dataclass": ("scale = Scale(2.0)", "scale(x)"),
    "operator of a class": ("", "m @ x"),
    "method through a property": ("", "m.go(x)"),
    "static method": ("", "Model.fixed(x)"),
    "partial": ("g = functools.partial(f)", "g(x)"),
    "partial with arguments": ("g = functools.partial(f, x)", "g()"),
    "partial of a method": ("g = functools.partial(m.step)", "g(x)"),
    "getattr": ("", "getattr(m, 'step')(x)"),
    "methodcaller": ("", "operator.methodcaller('step', x)(m)"),
    "lambda": ("g = lambda v: f(v)", "g(x)"),
    "decorator": ("g = logged(f)", "g(x)"),
    "map": ("", "list(map(f, [x]))"),
    "generator": ("", "list(f(v) for v in [x])"),
    "key of a sort": ("", "sorted([x], key=f)"),
    "helper's nested function": ("import helper", "helper.outer(f, x)"),
    "helper's map": ("import helper", "helper.every(f, [x])"),
    "thread": ("", "t = threading.Thread(target=f, args=(x,)); t.start(); t.join()"),
    "executor": ("pool = concurrent.futures.ThreadPoolExecutor(1)", "pool.submit(f, x).result()"),
    "asyncio": ("", "asyncio.run(away(x))"),
}
HELPER = """\
def outer(f, x):
    def inner(y):
        return f(y)
    return inner(x)
def every(f, xs):
    return list(map(f, xs))
"""


def states_told(shell: Shell, way: tuple[str, str], more: str = "") -> list[str]:
    """What ``%%trace_cached`` tells of three calls in a loop, made in this way."""
    before, call = way
    shell.run(f"{_START}\n{more}\n{before}")
    shell.run(f"%%trace_cached -qv looked\nfor _ in range(3):\n    {call}")
    return [call.state for call in shell.names["looked"].calls for _ in range(call.times)]


def wrong(
    shell: Shell, ways: Mapping[str, tuple[str, str]], first: str = "TRACED"
) -> dict[str, list[str]]:
    """What is told of each of some ways that are not seen as one trace and two cache hits."""
    told = {name: states_told(shell, way) for name, way in ways.items()}
    return {name: each for name, each in told.items() if each != [first, "CACHED", "CACHED"]}
