"""The purpose of each magic, in one sentence, without loading what it takes."""

#: By the name of the magic.
PURPOSES = {
    "fwtime": "Time code correctly: wait for asynchronous work, report compilation separately.",
    "fwcompare": "Compare labelled lines of code fairly: interleaved runs on the same data.",
    "jaxpr": "Show the program that a call compiles to; your caches stay as they are.",
    "fxgraph": "Show the ATen operations of a call in PyTorch, as %jaxpr does for JAX.",
    "tfgraph": "Show the graph of a call in TensorFlow, as %jaxpr does for JAX.",
    "explain": "Explain why the last failed cell does not trace: line, argument, fix.",
    "trace_cached": "Show which calls were traced and which were cached, why, and at what cost.",
    "fwdevices": "Show devices, where arrays live and, above a cell, what it copies.",
    "fwhistory": "Show earlier measurements, from this notebook and all others.",
    "ipyjaxbench": "List the magics, and the versions and devices for a bug report.",
}
#: By the magic as it is typed first.
MAGICS = {
    f"{'%%' if name == 'fwcompare' else '%'}{name}": purpose for name, purpose in PURPOSES.items()
}
