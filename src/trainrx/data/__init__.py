"""The data a launch names, read in a bounded sample: what is wrong with it, and how long it is."""
