"""Fit the weights and priors of causes on labelled cases."""
