"""Write kb/catalogs: what each release of each framework takes, read out of its released files."""
