"""Loading and checking of the knowledge."""
