"""The analytical memory model."""
