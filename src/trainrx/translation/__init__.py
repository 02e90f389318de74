"""A launch, written for another release."""
