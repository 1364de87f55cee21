"""The user's code: read, run, instrumented, and told apart from everybody else's.

`Snippet` is code compiled once into a loop, `Call` one call with its arguments, `run` awaits where
code awaits. `instrument` has calls in some code go through a hook, `objects` reads any object
without running code of its class, `origin` says whose file a line is in. All rooms above use this
one; it knows the host and no framework.
"""
