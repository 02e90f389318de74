"""How each framework declares its arguments."""
