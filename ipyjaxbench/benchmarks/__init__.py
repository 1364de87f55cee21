"""What tests can ask for: ``fwbench`` and how it measures and what a run keeps; ``max_traces``.

`pytest_plugin` has pytest's hooks and the fixtures; it is loaded in every run of pytest, so that it
imports nothing of this package before a test asks for a fixture. `settings` are the options that
were typed, `fixture` measures a call, and `run` collects what was measured, finds what it is held
against, and writes it. The reports are those of `ipyjaxbench.records`. Only pytest calls this room.
"""
