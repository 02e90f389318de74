"""Remedies in the spelling of the job at hand."""
