"""Inference: rules and conditions over facts, by durable_rules or by plain Python."""
