"""The language server: what lint says of a launch while it is being written."""
