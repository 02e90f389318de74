"""Markdown of a robot of DingTalk: 20,000 bytes; quotes and lists, no code.

https://open.dingtalk.com/document/orgapp/message-type
"""

from collections.abc import Iterator

from trainrx.model.pattern import late
from trainrx.render.markup._commonmark import CodeBlock
from trainrx.render.markup._robots import RobotMarkdown
from trainrx.sanitizer.media import BREAKER

_TAG = late(r"<(?=[A-Za-z/!?]|$)")


class _DingTalk(RobotMarkdown):
    limit = 20_000
    marks = late(r"[*\[\]`<~]|^[#>+-](?=\s|$)|(?<![^\W_])_|_(?![^\W_])")

    def code(self, text: str) -> str:
        """Write what is code elsewhere as it stands: a command is copied from it.

        Only what would be a tag, a link or an image is split.
        """
        return (
            _TAG.sub(f"<{BREAKER}", text)
            .replace("![", f"!{BREAKER}[")
            .replace("](", f"]{BREAKER}(")
        )

    def block(self, block: CodeBlock) -> Iterator[str]:
        """Quote lines one by one; two spaces break a line."""
        yield from (f"> {self.code(line)}  " for line in block.lines)
        yield ""


MARKUP = _DingTalk()
