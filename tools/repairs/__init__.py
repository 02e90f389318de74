"""What the releases of each framework repaired, read from its history."""
