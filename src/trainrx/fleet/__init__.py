"""Many jobs: who lists them, the engine that has them answered, and what is remembered of them."""
