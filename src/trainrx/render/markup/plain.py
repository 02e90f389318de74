"""Text that nobody renders: mails, tickets, terminals."""

from collections.abc import Iterator

from trainrx.render.markup._commonmark import CodeBlock, CommonMark


class _Plain(CommonMark):
    tables = chat = False

    def bold(self, written: str) -> str:
        return written

    def aside(self, text: str) -> str:
        return text

    def heading(self, written: str) -> str:
        return written

    def link(self, url: str) -> str:
        return url

    def escaped(self, text: str) -> str:
        return text

    def begun(self, written: str) -> str:
        return written

    def code(self, text: str) -> str:
        return text

    def block(self, block: CodeBlock) -> Iterator[str]:
        yield from (f"    {line}" for line in block.lines)


MARKUP = _Plain()
