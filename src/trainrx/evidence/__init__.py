"""Signatures, series and facts found in logs in one pass."""
