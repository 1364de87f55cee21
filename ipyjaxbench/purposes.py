"""The purpose of each magic, in one sentence, without loading what it takes."""

#: By the name of the magic.
PURPOSES = {
    "fwtime": "Time code right: asynchronous work is waited for, compilation is kept apart.",
    "fwcompare": "Compare labelled lines of code side by side, in turns and on the same data.",
    "jaxpr": "Show the program that a call is; none of your caches changes.",
    "fxgraph": "Show the ATen operations that a call in PyTorch is, as %jaxpr does.",
    "tfgraph": "Show the graph that a call in TensorFlow is, as %jaxpr does.",
    "explain": "Say why the last cell that failed would not trace: line, argument, fix.",
    "trace_cached": "Say of calls of compiled functions: traced or cached, why, at what cost.",
    "fwdevices": "Show where arrays live, what devices there are, and above a cell what it copies.",
    "fwhistory": "Show what was measured before, in this notebook and in all others.",
    "ipyjaxbench": "List the magics, and the versions and devices that a report of a bug needs.",
}
#: By the magic as it is typed first.
MAGICS = {
    f"{'%%' if name == 'fwcompare' else '%'}{name}": purpose for name, purpose in PURPOSES.items()
}
