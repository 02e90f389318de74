"""The Markdown of a card of Feishu and Lark: 30 KB a card; marks are escaped as HTML entities.

https://open.feishu.cn/document/feishu-cards/card-json-v2-components/content-components/rich-text
"""

from trainrx.model.pattern import late
from trainrx.render.markup._commonmark import CommonMark, unlinked
from trainrx.sanitizer.media import BREAKER

_MARKS = late(r"[\\`*\[\]<>~_&|!]|^[#+-](?=\s)")


class _Feishu(CommonMark):
    limit = 28_000
    unit = "bytes"
    tables = False

    def heading(self, written: str) -> str:
        return self.bold(written)

    def escaped(self, text: str) -> str:
        return _MARKS.sub(lambda found: f"&#{ord(found[0])};", unlinked(text))

    def begun(self, written: str) -> str:
        return written

    def code(self, text: str) -> str:
        """Quote inline: a backtick has no form inside, and a tag would be obeyed."""
        inside = text.replace("`", "'").replace("<", f"<{BREAKER}")
        return f"`{inside}`"


MARKUP = _Feishu()
