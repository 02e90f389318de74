"""Markdown of a group robot of WeCom: 4,096 bytes; inline code on a line, no lists, no blocks.

https://developer.work.weixin.qq.com/document/path/91770
"""

from collections.abc import Iterator

from trainrx.model.pattern import late
from trainrx.render.markup._commonmark import CodeBlock, CommonMark, unlinked
from trainrx.sanitizer.media import BREAKER

_MARKS = late(r"[*\[\]`<]|^[#>](?=\s|$)|(?<![^\W_])_|_(?![^\W_])")


class _WeCom(CommonMark):
    limit = 4_096
    unit = "bytes"
    bullet = "• "
    tables = False

    def heading(self, written: str) -> str:
        return self.bold(written)

    def aside(self, text: str) -> str:
        return self.escaped(text)

    def link(self, url: str) -> str:
        return f"[{url}]({url})"

    def escaped(self, text: str) -> str:
        """Split marks from what they would mark: nothing escapes them."""
        return unlinked(_MARKS.sub(lambda found: f"{BREAKER}{found[0]}{BREAKER}", text))

    def begun(self, written: str) -> str:
        return written

    def code(self, text: str) -> str:
        inside = text.replace("`", "'").replace("<", f"<{BREAKER}")
        return f"`{inside}`"

    def block(self, block: CodeBlock) -> Iterator[str]:
        yield from (self.code(line) if line.strip() else "" for line in block.lines)


MARKUP = _WeCom()
