"""From texts to one launch with its settings."""
