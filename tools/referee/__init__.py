"""Recording what real frameworks make of launches."""
