"""The magics: how each is typed, and examples of it; its options are in the room that it asks."""

from dataclasses import replace
from typing import Any

from ipyjaxbench.command import Command, NoOptions
from ipyjaxbench.comparison import CompareOptions
from ipyjaxbench.device import DeviceOptions
from ipyjaxbench.graphs import GraphOptions
from ipyjaxbench.records import HistoryOptions
from ipyjaxbench.retracing import TraceOptions
from ipyjaxbench.timing import TimeOptions

TIME = Command(
    name="fwtime",
    options=TimeOptions,
    usage=("%fwtime [options] code", "%%fwtime [options] [set-up]   (above a cell)"),
    examples="""\
examples:
  %fwtime jnp.dot(x, x.T)               waited for, on every device that it uses
  %fwtime -b 5 y = step(params, batch)  five seconds; y is there afterwards
  r = %fwtime -n 100 -r 7 f(x)          exactly 700 calls; r.median in seconds
  %%fwtime x = make()                   set-up, untimed; the cell is timed

from Python:
  ipyjaxbench.measure(f, x)
  ipyjaxbench.measure_code("f(x)", globals())
""",
)
COMPARE = Command(
    name="fwcompare",
    options=CompareOptions,
    usage=("%%fwcompare [options]   (above a cell)", "%fwcompare [options] name name"),
    takes_code=False,
    names="kept",
    examples="""\
a cell:
  x = np.random.rand(n, n)              above the arms: runs once
  numpy: np.dot(x, x)                   an arm
  several lines:                        another one
      y = np.dot(x, x)
      y.sum()
  setup numpy: x = np.random.rand(n, n) runs before each sample of that arm

examples:
  %%fwcompare --baseline numpy
  %%fwcompare --sweep n=100,300,1000    the arms at each value of n
  %%fwcompare --sweep n=2**6..2**12     64, 128, 256, ... 4096
  %fwcompare before after               results that %fwtime kept by name

from Python:
  ipyjaxbench.compare({"eager": f, "jitted": jax.jit(f)}, x)
""",
)
GRAPH = Command(
    name="jaxpr",
    options=GraphOptions,
    usage=("%jaxpr [options] call", "%%jaxpr [options]   (above a cell)"),
    examples="""\
examples:
  %jaxpr f(x, y)                        this call's program; nothing is computed
  %jaxpr x @ y + 1                      an expression that is no call
  %jaxpr --stage optimized f(x)         what the compiler makes of it
  %jaxpr --shapes "f32[8,4], i32[]" f   f of arrays of these shapes, no data
  %jaxpr --diff "f(x16)" f(x32)         what differs between two calls
  %jaxpr --diff last f(x)               what an edit of f has changed
  %jaxpr --on tpu:v5e --on tpu:v6e f(x) what TPUs would make of it, anywhere
  g = %jaxpr -q f(x)                    g.flops, g.static_argnames, g.jaxpr

from Python:
  ipyjaxbench.graph(f, x, y)
""",
)
FXGRAPH = replace(
    GRAPH,
    name="fxgraph",
    usage=("%fxgraph [options] call", "%%fxgraph [options]   (above a cell)"),
    examples="""\
examples:
  %fxgraph model(x)                     the ATen operations that this call is
  %fxgraph --dynamo model(x)            what torch.compile sees; graph breaks
  %fxgraph --export model(x)            what torch.export makes of it
  g = %fxgraph -q f(x)                  g.flops, g.graph

from Python:
  ipyjaxbench.graph(f, x, stage="aten")
""",
)
TFGRAPH = replace(
    GRAPH,
    name="tfgraph",
    usage=("%tfgraph [options] call", "%%tfgraph [options]   (above a cell)"),
    examples="""\
examples:
  %tfgraph f(x)                         the graph that tf.function makes of it
  %tfgraph --stage optimized f(x)       what XLA makes of it
  %tfgraph --shapes "f32[8,4]" f        f of such an array, without data
  g = %tfgraph -q f(x)                  g.flops, g.graph

from Python:
  ipyjaxbench.graph(f, x, stage="tf")
""",
)
EXPLAIN = Command(
    name="explain",
    options=NoOptions,
    usage=("%explain [options]",),
    takes_code=False,
    examples="""\
examples:
  %explain                              after a cell that failed
  why = %explain                        why.fixes
  %explain -q -v why                    the same, and nothing is shown

from Python:
  ipyjaxbench.explain(error)
""",
)
TRACE = Command(
    name="trace_cached",
    options=TraceOptions,
    usage=("%trace_cached [options] code", "%%trace_cached [options]   (above a cell)"),
    examples="""\
examples:
  %trace_cached f(x)              calls it twice: once traced, then cached
  %%trace_cached                  a line for each call of a compiled function
  %%trace_cached --max-traces 1   fails with the reason when more is traced
  %trace_cached --predict f(y)    would it be traced? nothing is run
  %trace_cached --history step    the signatures that step was traced with
  %trace_cached --watch on        a line below each later cell that traces

from Python:
  with ipyjaxbench.trace_cached() as t: ...
  ipyjaxbench.assert_max_traces(f, 1)
""",
)
DEVICES = Command(
    name="fwdevices",
    options=DeviceOptions,
    usage=("%fwdevices [options] [value value ...]", "%%fwdevices [options]   (above a cell)"),
    several=True,
    examples="""\
examples:
  %fwdevices                       devices of frameworks in use; arrays by name
  %fwdevices x params["w"] model   where these live, leaf by leaf, how cut
  %fwdevices --peak                products, memory and copies at their fastest
  %fwdevices --no-prealloc         before the first use: memory as it is needed
  %%fwdevices                      what a cell copies between host and devices

from Python:
  ipyjaxbench.devices()
  ipyjaxbench.ceilings()
  ipyjaxbench.placement(x, params)
  with ipyjaxbench.transfers() as t: ...
""",
)
HISTORY = Command(
    name="fwhistory",
    options=HistoryOptions,
    usage=("%fwhistory [options] [text that the name or the code has]",),
    takes_code=False,
    examples="""\
examples:
  %fwhistory                            the last 20, of all notebooks
  %fwhistory softmax --since 7d         with softmax in name or code, this week
  %fwhistory --plot --here step         step in this notebook, over time
  h = %fwhistory -q --last 1000         h[0].median is the newest
  %fwtime --against best step(x)        hold a new one against the fastest

from Python:
  ipyjaxbench.history("softmax", since="7d")
""",
)
ABOUT = Command(
    name="ipyjaxbench",
    options=NoOptions,
    usage=("%ipyjaxbench [options]",),
    takes_code=False,
    examples="""\
examples:
  %ipyjaxbench              nothing is imported, and no device is started
  me = %ipyjaxbench -q      print(me.text), to be pasted into a report
  %config IpyJaxBench       what can be configured, with its values of now

from Python:
  ipyjaxbench.about()
""",
)

_ALL: tuple[Command[Any], ...] = (
    *(TIME, COMPARE, GRAPH, FXGRAPH, TFGRAPH),
    *(EXPLAIN, TRACE, DEVICES, HISTORY, ABOUT),
)
#: By the names of their magics.
COMMANDS = {command.name: command for command in _ALL}
