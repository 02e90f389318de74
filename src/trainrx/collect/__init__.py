"""Evidence of jobs that still run: what is taken from them, how they are started and followed."""
