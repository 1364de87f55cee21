"""Tests of what needs no framework: keys, the log, predictions of values, reports."""
