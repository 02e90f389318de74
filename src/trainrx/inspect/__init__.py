"""What a launch really sets."""
