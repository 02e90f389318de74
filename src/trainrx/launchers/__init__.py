"""What stands in front of a training program: wrappers and launchers."""
