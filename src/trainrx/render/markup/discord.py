"""Messages of Discord: 2,000 characters, no tables (https://discord.com/developers/docs)."""

from trainrx.render.markup._commonmark import CommonMark


class _Discord(CommonMark):
    limit = 2_000
    unit = "UTF-16 units"
    tables = False
    tight = True


MARKUP = _Discord()
