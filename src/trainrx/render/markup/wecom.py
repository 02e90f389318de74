"""Markdown of a group robot of WeCom: 4,096 bytes; inline code on a line, no lists, no blocks.

https://developer.work.weixin.qq.com/document/path/91770
"""

from collections.abc import Iterator

from trainrx.model.pattern import late
from trainrx.render.markup._commonmark import CodeBlock
from trainrx.render.markup._robots import RobotMarkdown
from trainrx.sanitizer.media import BREAKER


class _WeCom(RobotMarkdown):
    limit = 4_096
    bullet = "• "
    inner = "◦ "
    tight = True
    marks = late(r"[*\[\]`<]|^[#>](?=\s|$)|(?<![^\W_])_|_(?![^\W_])")

    def code(self, text: str) -> str:
        inside = text.replace("`", "'").replace("<", f"<{BREAKER}")
        return f"`{inside}`"

    def block(self, block: CodeBlock) -> Iterator[str]:
        yield from (self.code(line) if line.strip() else "" for line in block.lines)


MARKUP = _WeCom()
