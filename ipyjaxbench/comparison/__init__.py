"""Compares several pieces of code in interleaved rounds."""
