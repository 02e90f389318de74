"""Mrkdwn of Slack: one section has 3,000 characters; `& < >` are entities, no escapes, no tables.

https://docs.slack.dev/messaging/formatting-message-text
"""

from collections.abc import Iterator

from trainrx.model.pattern import late
from trainrx.render.markup._commonmark import CodeBlock, CommonMark, unlinked
from trainrx.sanitizer.media import BREAKER

_ENTITIES = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}
_MARKS = late(r"(?<![^\W_])([*_~`])(?=\S)|(?<=\S)([*_~`])(?![^\W_])")
"""Marks that begin or end a run: what stands inside of a word has no meaning."""


class _Slack(CommonMark):
    limit = 3_000
    bullet = "• "
    inner = "◦ "
    tables = False
    tight = True

    def bold(self, written: str) -> str:
        return f"*{written}*"

    def heading(self, written: str) -> str:
        return self.bold(written)

    def link(self, url: str) -> str:
        return f"<{url}>"

    def escaped(self, text: str) -> str:
        split = _MARKS.sub(lambda found: f"{BREAKER}{found[0]}{BREAKER}", text)
        return unlinked(split).translate(_ENTITIES)

    def begun(self, written: str) -> str:
        return written

    def code(self, text: str) -> str:
        inside = text.replace("`", "'").translate(_ENTITIES)
        return f"`{inside}`"

    def block(self, block: CodeBlock) -> Iterator[str]:
        """Quote lines as a block; it takes no language, and three backticks would end it."""
        yield "```"
        for line in block.lines:
            yield line.replace("```", f"`{BREAKER}`{BREAKER}`").translate(_ENTITIES)
        yield "```"


MARKUP = _Slack()
