"""Changes single lines of the package, and counts those that the tests notice.

``python -m tests.mutations`` needs two steps: it notes once which test runs which function, by
marks that an import hook puts into them (`marks`, `ran`), then makes each change in a fork of a
process that has imported a framework, and runs there some of the tests that run the function
(`judge`).
"""
