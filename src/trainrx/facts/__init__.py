"""Arithmetic on facts that YAML should not do."""
