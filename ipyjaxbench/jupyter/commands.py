"""The usage and the examples of each magic; its options are defined in the room that it calls."""

from dataclasses import replace
from typing import Any

from ipyjaxbench.command import Command, NoOptions
from ipyjaxbench.comparison import CompareOptions
from ipyjaxbench.device import DeviceOptions
from ipyjaxbench.graphs import GraphOptions
from ipyjaxbench.records import HistoryOptions
from ipyjaxbench.retracing import TraceOptions
from ipyjaxbench.timing import FwtimeOptions

TIME = Command(
    name="fwtime",
    options=FwtimeOptions,
    usage=("%fwtime [options] code", "%%fwtime [options] [setup]   (above a cell)"),
    examples="""\
examples:
  %fwtime jnp.dot(x, x.T)               waits for the result, on any device
  %fwtime -b 5 y = step(params, batch)  for 5 seconds; y is defined afterwards
  %fwtime --memory f(x)                 the most memory a call needs, of what
  r = %fwtime -n 100 -r 7 f(x)          exactly 700 calls; r.median in seconds
  %%fwtime x = make()                   untimed setup; the cell is timed
  %fwtime --engines all step(x)         on all engines of ipyparallel or Dask
  %%fwtime --loop                       a training loop: data, host or device

from Python:
  ipyjaxbench.measure(f, x)
  ipyjaxbench.measure(f, x, timer=ipyjaxbench.Options(budget=5))
  ipyjaxbench.measure_code("f(x)", number=100, repeat=7)
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
  x = np.random.rand(n, n)              above the arms: runs once, untimed
  numpy: np.dot(x, x)                   an arm labelled numpy
  several lines:                        an arm of several lines
      y = np.dot(x, x)
      y.sum()
  setup numpy: x = np.random.rand(n, n) untimed, before each sample of that arm

examples:
  %%fwcompare --baseline numpy
  %%fwcompare --sweep n=100,300,1000    compare at each value of n
  %%fwcompare --sweep n=2**6..2**12     n = 64, 128, 256, ... 4096
  %%fwcompare --sweep engines=1,2,4     speed-up on ipyparallel or Dask
  %%fwcompare --name before             keep before.numpy, before.jax, ...
  %fwcompare before.jax after.jax       compare results that were kept

from Python:
  ipyjaxbench.compare({"eager": f, "jitted": jax.jit(f)}, x)
  ipyjaxbench.compare({"a": f, "b": g}, setup=make, sweep={"n": [10, 100]})
""",
)
GRAPH = Command(
    name="jaxpr",
    options=GraphOptions,
    usage=("%jaxpr [options] call", "%%jaxpr [options]   (above a cell)"),
    examples="""\
examples:
  %jaxpr f(x, y)                        the program; nothing is computed
  %jaxpr x @ y + 1                      works for any expression
  %jaxpr --stage optimized f(x)         the optimized HLO
  %jaxpr --shapes "f32[8,4], i32[]" f   from shapes alone, without data
  %jaxpr --diff "f(x16)" f(x32)         the difference between two calls
  %jaxpr --diff last f(x)               what an edit of f has changed
  %jaxpr --on tpu:v5e --on tpu:v6e f(x) estimates for TPUs, without a TPU
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
  %fxgraph model(x)                     the ATen operations of this call
  %fxgraph --dynamo model(x)            what torch.compile sees; graph breaks
  %fxgraph --export model(x)            the program torch.export produces
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
  %tfgraph f(x)                         the graph tf.function builds
  %tfgraph --stage optimized f(x)       the HLO that XLA optimized
  %tfgraph --shapes "f32[8,4]" f        from a shape alone, without data
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
  why = %explain                        why.fixes has the fixes
  %explain -q -v why                    the same, without a report

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
  %trace_cached f(x)               calls it twice: traced first, then cached
  %%trace_cached                   one row per call of a compiled function
  %%trace_cached --max-traces 1    fails, with the reason, on a second trace
  %trace_cached --predict f(y)     would it be traced? nothing is run
  %trace_cached --signatures step  the signatures that step was traced with
  %trace_cached --watch on         one line below each later cell that traces
  %%trace_cached --engines all     runs on all engines: which of them traced

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
  %fwdevices                       all devices in use, and your arrays
  %fwdevices x params["w"] model   where these live and how they are sharded
  %fwdevices --peak                measured peak rates of each device
  %fwdevices --no-prealloc         before first use: allocate GPU memory lazily
  %fwdevices --held                after an error: who still holds arrays
  %fwdevices --release             lets go of Out and of the last traceback
  %%fwdevices                      what a cell copies between host and devices

from Python:
  ipyjaxbench.devices()
  ipyjaxbench.peaks()
  ipyjaxbench.placement(x, params)
  with ipyjaxbench.transfers() as t: ...
""",
)
HISTORY = Command(
    name="fwhistory",
    options=HistoryOptions,
    usage=("%fwhistory [options] [text in the name or the code]",),
    takes_code=False,
    examples="""\
examples:
  %fwhistory                            the last 20 measurements, all notebooks
  %fwhistory softmax --since 7d         softmax in name or code, last 7 days
  %fwhistory --plot --here step         step in this notebook, over time
  h = %fwhistory -q --last 1000         h[0].median is the newest, in seconds
  %fwtime --against best step(x)        compare a new run with the fastest

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
  %ipyjaxbench              the magics, and a block for your bug report
  me = %ipyjaxbench -q      print(me.text) prints the block alone
  %config IpyJaxBench       all settings, with their current values

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
