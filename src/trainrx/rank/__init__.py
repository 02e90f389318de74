"""Evidence into an order of causes."""
