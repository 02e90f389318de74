"""From inputs to a ranked answer."""
