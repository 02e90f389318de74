"""What a launch takes of the card."""
