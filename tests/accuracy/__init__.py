"""A benchmark, not a test: our figures against a truth that is waited for by hand.

``python -m tests.accuracy`` prints its tables; ``--help`` says how to run a part of it.
"""
