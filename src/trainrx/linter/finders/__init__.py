"""One module per finder; `find(job)` gives what it found. A rule names its finder by file name."""
