"""The service: an interface for programs and a page for people."""
