"""Messages of Telegram in HTML (`parse_mode: HTML`): 4,096 UTF-16 units.

https://core.telegram.org/bots/api#html-style
"""

from collections.abc import Iterator
from html import escape

from trainrx.render.markup._commonmark import CodeBlock, CommonMark, unlinked


class _Telegram(CommonMark):
    limit = 4_096
    unit = "UTF-16 units"
    bullet = "• "
    inner = "◦ "
    tables = False
    tight = True

    def bold(self, written: str) -> str:
        return f"<b>{written}</b>"

    def aside(self, text: str) -> str:
        return f"<i>{self.escaped(text)}</i>"

    def heading(self, written: str) -> str:
        return self.bold(written)

    def link(self, url: str) -> str:
        return escape(url)

    def escaped(self, text: str) -> str:
        return unlinked(escape(text, quote=False))

    def begun(self, written: str) -> str:
        return written

    def code(self, text: str) -> str:
        return f"<code>{escape(text, quote=False)}</code>"

    def block(self, block: CodeBlock) -> Iterator[str]:
        inside = escape("\n".join(block.lines), quote=False)
        of = f' class="language-{block.language}"' if block.language else ""
        yield f"<pre><code{of}>{inside}</code></pre>"


MARKUP = _Telegram()
