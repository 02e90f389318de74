"""Markdown of a robot of DingTalk: 20,000 bytes; quotes and lists, no code.

https://open.dingtalk.com/document/orgapp/message-type
"""

from collections.abc import Iterator

from trainrx.model.pattern import late
from trainrx.render.markup._commonmark import CodeBlock, CommonMark, unlinked
from trainrx.sanitizer.media import BREAKER

_MARKS = late(r"[*\[\]`<~]|^[#>+-](?=\s|$)|(?<![^\W_])_|_(?![^\W_])")


class _DingTalk(CommonMark):
    limit = 20_000
    unit = "bytes"
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
        """Write what is code elsewhere as it stands; only what would be a tag is split."""
        return (
            text.replace("<", f"<{BREAKER}")
            .replace("![", f"!{BREAKER}[")
            .replace("](", f"]{BREAKER}(")
        )

    def block(self, block: CodeBlock) -> Iterator[str]:
        """Quote lines one by one; two spaces break a line."""
        yield from (f"> {self.code(line)}  " for line in block.lines)
        yield ""


MARKUP = _DingTalk()
