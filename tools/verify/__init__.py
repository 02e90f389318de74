"""Whether what entries claim stands in the catalogs, the sources and the releases they name."""
