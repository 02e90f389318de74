"""Lines to text."""

from trainrx.render.formats.text import STYLES, coloured, plain

__all__ = ["STYLES", "coloured", "plain"]
