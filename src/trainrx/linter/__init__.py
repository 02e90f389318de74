"""The rules of `diagnose lint`: what is wrong with a launch before it runs."""
