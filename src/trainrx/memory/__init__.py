"""The analytical memory model: what a job keeps on each GPU, in GiB, from its launch alone."""
