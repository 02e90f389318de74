"""The records that travel between the layers; frozen, closed, without behaviour of their own."""
