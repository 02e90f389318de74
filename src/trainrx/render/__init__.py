"""The answer in the forms people and programs read."""
