"""A benchmark, not a test: our figures against a truth that is synchronised by hand.

``python -m tests.accuracy`` prints one table; ``--rounds N`` repeats each line N times.
"""
