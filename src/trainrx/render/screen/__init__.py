"""The first screen of a diagnosis: a page that keeps within a terminal, and its parts."""
