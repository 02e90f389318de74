"""What is said of many jobs, in several forms."""
