"""The errors a caller may meet."""

from __future__ import annotations


class UsageError(Exception):
    """The tool was asked something it cannot do: says what was seen, expected and to do."""


class NoInputError(UsageError):
    """A file is none of the inputs that are read; beside others it is passed over."""


class KnowledgeError(Exception):
    """An entry of `kb/` or `rules/` is wrong; names the file and the key path."""

    def __init__(self, path: str, key: str, message: str) -> None:
        super().__init__(f"{path}{': ' + key if key else ''}: {message}")
        self.path = path
        self.key = key
        self.message = message
