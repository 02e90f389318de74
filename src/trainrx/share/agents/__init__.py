"""Tools of agents, by the Model Context Protocol (https://modelcontextprotocol.io)."""
