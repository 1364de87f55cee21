"""Measurements of before: history, baselines, saved notebooks, two runs of one."""
