"""Entries of the knowledge base, checked and tested."""
