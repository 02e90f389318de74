"""Start a job small, by its own framework: what it says, and what of the data arrives."""
