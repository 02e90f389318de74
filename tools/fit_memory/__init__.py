"""Fit the constants of the memory model on measured rows."""
