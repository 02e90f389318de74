"""The errors a caller may meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainrx.model.job import Input


class UsageError(Exception):
    """The tool was asked something it cannot do: says what was seen, expected and to do."""


class UnknownContentError(UsageError):
    """What was named is of no kind that is read; a reader of evidence may know some of `others`."""

    def __init__(self, message: str, others: Sequence[Input] = ()) -> None:
        super().__init__(message)
        self.others = tuple(others)


class NoInputError(UnknownContentError):
    """A file is none of the inputs that are read; beside others it is passed over."""


class KnowledgeError(Exception):
    """An entry of `kb/` or `rules/` is wrong; names the file and the key path."""

    def __init__(self, path: str, key: str, message: str) -> None:
        super().__init__(f"{path}{': ' + key if key else ''}: {message}")
        self.path = path
        self.key = key
        self.message = message
