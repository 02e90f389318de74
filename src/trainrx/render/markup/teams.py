"""Messages of a bot in Microsoft Teams (`textFormat: markdown`): 28 KB, no headings, no tables.

https://learn.microsoft.com/microsoftteams/platform/bots/how-to/format-your-bot-messages
"""

from trainrx.render.markup._commonmark import CommonMark


class _Teams(CommonMark):
    limit = 28_000
    unit = "bytes"
    tables = False

    def heading(self, written: str) -> str:
        return self.bold(written)


MARKUP = _Teams()
