"""The purpose of each magic, in one sentence, without loading what it takes."""

#: By the name of the magic.
PURPOSES = {
    "fwtime": "Time code correctly: wait for asynchronous work, report compilation separately.",
    "fwcompare": "Compare labelled lines fairly: interleaved, on the same data.",
    "jaxpr": "Show the program a call compiles to; your caches are unchanged.",
    "fxgraph": "Show the ATen operations of a PyTorch call, like %jaxpr.",
    "tfgraph": "Show the graph of a TensorFlow call, like %jaxpr.",
    "explain": "Explain why the last failed cell does not trace: line and fix.",
    "trace_cached": "Show which calls were traced or cached, why, and at what cost.",
    "fwdevices": "Show devices and arrays; above a cell, show what it copies.",
    "fwhistory": "Show earlier measurements, from this notebook and all others.",
    "ipyjaxbench": "List the magics, and versions and devices for a bug report.",
}
#: By the magic as it is typed first.
MAGICS = {
    f"{'%%' if name == 'fwcompare' else '%'}{name}": purpose for name, purpose in PURPOSES.items()
}
