"""Shapes and parameter counts of models."""
