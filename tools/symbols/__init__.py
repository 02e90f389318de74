"""Write data/symbols: which releases have which modules, names and arguments."""
