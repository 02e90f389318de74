"""The parser a Python program declares, and what it refuses."""
