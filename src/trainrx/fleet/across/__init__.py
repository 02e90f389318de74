"""What many jobs tell that one does not: who is suspected, what it cost, since when."""
