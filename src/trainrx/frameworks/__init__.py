"""What sets frameworks apart."""
