"""Issues and comments of GitHub."""

from trainrx.render.markup._commonmark import CommonMark


class _GitHub(CommonMark):
    limit = 65_536
    chat = False


MARKUP = _GitHub()
