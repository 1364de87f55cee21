"""The program that a call is, and why code does not trace.

`inspect_code` shows it as a `Graph` without making the call, and `explain` diagnoses an error of
tracing as a `Diagnosis`. `components` are parts of graphs and what a framework can still tell of
one; notes say what its author may not expect. Adapters make what is shown here. The magics, the
Python API and the room `retracing` call this room.
"""
