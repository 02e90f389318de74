"""Write data/catalogs: what each release of each framework takes, from its files."""
