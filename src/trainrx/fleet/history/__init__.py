"""What is remembered of jobs: one SQLite file."""
