"""Marks of Markdown."""

from trainrx.render.formats.markdown import code, fence, guard, prose

__all__ = ["code", "fence", "guard", "prose"]
