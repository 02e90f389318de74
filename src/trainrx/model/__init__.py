"""The records that travel between the layers; frozen, closed, without behaviour of their own."""

__version__ = "0.1.0"
"""Of this program; pyproject.toml states the same and a test compares them."""
