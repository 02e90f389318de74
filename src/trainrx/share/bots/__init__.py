"""Bots of chats: what they answer, and one adapter for each platform, found by its name."""
