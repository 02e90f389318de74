"""Inputs: recognised by content, decoded, decompressed, streamed."""
