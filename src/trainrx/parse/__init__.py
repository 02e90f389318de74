"""Launch scripts, configs, environments and versions, read into facts."""
