"""The answer carried out of the terminal: a service, a page, tools of agents, bots of chats."""
