"""Kubernetes manifests, compose files and SkyPilot tasks: what their containers run, on what."""
