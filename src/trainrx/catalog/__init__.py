"""Which arguments each release takes, and how a meaning is spelled there."""
