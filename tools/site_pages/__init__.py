"""Turn the knowledge base into the pages of a static site, English and Chinese."""
