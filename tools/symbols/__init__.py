"""Write kb/packages/symbols: which releases have which modules, names and arguments."""
