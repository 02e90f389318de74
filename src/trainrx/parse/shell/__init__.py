"""Shell scripts evaluated without running them."""
