"""The fixture ``fwbench``: what pytest knows of it, how it measures, and what a run keeps.

`pytest_plugin` has pytest's hooks and the fixture; it is loaded in every run of pytest, so that it
imports nothing of this package before a test asks for the fixture. `settings` are the options that
were typed, `fixture` measures a call, and `run` collects what was measured, finds what it is held
against, and writes it. The reports are those of `ipyjaxbench.records`. Only pytest calls this room.
"""
