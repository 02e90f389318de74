"""Open Instruct: https://github.com/allenai/open-instruct."""

from __future__ import annotations

from trainrx.frameworks.base import Framework


class OpenInstruct(Framework):
    """Open Instruct."""

    name = "open-instruct"
    folders = ("open_instruct", "open-instruct")


FRAMEWORK = OpenInstruct()
