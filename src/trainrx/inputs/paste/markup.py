"""The structure of a post: fences, headings, quotations, and what of it only serves the form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from trainrx.inputs.paste.lines import SETTING, Kind
from trainrx.inputs.paste.segment import PostLine
from trainrx.model.findings import Unread
from trainrx.model.pattern import late

LONGEST_MARKDOWN = 200_000
"""Characters of a post that is read as Markdown; issue trackers and chats take less."""
FENCE = late(r"(?m)^[ \t>]{0,12}(?:```|~~~)")
HEADING = late(r"(?m)^#{1,6} \S.{0,200}$")
_MARKED = late(r"\s*(?:#{1,6} +(?!.*[=(\\])|\*\*)(?P<title>[^*#`]{2,80}?)(?:\*\*)?[:：]?\s*$")
_COMMENT = late(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_IMAGE = late(r"!\[[^\]\n]{0,200}\]\([^)\n]{1,500}\)|<img\b[^>\n]{0,500}>")
_LINK = late(r"(?:^|\s)\[[^\]\n]{1,80}\]\((?:https?://[^)\n]{1,500})\)\s*$")
_TAG = late(r"\s*</?(?:details|summary|p|br|div|sub|sup|b|i|code|pre)\b[^>\n]{0,100}>\s*")
_CHECK = late(r"\s*[-*] \[[ xX]\] ")
_NOTHING = late(r"\s*_?(?:No response|无|暂无|N/?A)_?\s*$", re.IGNORECASE)
_QUOTED = late(r"\s{0,3}(?:> ?)+(?!>)")

FENCE_HINTS: Mapping[str, Kind] = {
    **dict.fromkeys(
        ("bash", "sh", "shell", "zsh", "console", "bat", "powershell", "cmd"), "script"
    ),
    **dict.fromkeys(("yaml", "yml", "json", "jsonc", "toml"), "config"),
    **dict.fromkeys(("python", "py", "python3"), "python"),
    **dict.fromkeys(("log", "traceback", "pytb", "text", "txt", "output", "stdout", "logs"), "log"),
}
HEADING_HINTS: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (late(r"log|traceback|error|output|报错|日志|错误信息|输出", re.IGNORECASE), "log"),
    (
        late(
            r"system info|environment|version|env\b|环境|版本|hardware|硬件|系统信息", re.IGNORECASE
        ),
        "versions",
    ),
    (
        late(r"command|script|reproduc|复现|命令|脚本|launch|how to run|训练参数", re.IGNORECASE),
        "script",
    ),
    (late(r"config|yaml|配置|参数", re.IGNORECASE), "config"),
    (
        late(
            r"describ|expected|what happened|problem|question|问题|描述|期望|现象|bug",
            re.IGNORECASE,
        ),
        "prose",
    ),
)
FENCED = 1.0
HEADED = 0.8
PROSE_IN_FENCE = -2.0


def lines_of(text: str, name: str, unread: list[Unread]) -> list[PostLine]:
    """Give the lines of a post with their blocks; what is left out of it goes to `unread`."""
    lines = text.split("\n")
    _blank_comments(text, lines)
    fences = dict(_fences(text)) if len(text) <= LONGEST_MARKDOWN else {}
    return list(_marked(lines, fences, name, unread))


def _blank_comments(text: str, lines: list[str]) -> None:
    if "<!--" not in text:
        return
    blanked = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    lines[:] = blanked.split("\n")


def _fences(text: str) -> Iterator[tuple[int, tuple[int, str]]]:
    """Give the lines of each fence by number (from 0): the end of its content, its language."""
    if not FENCE.search(text):
        return
    # takes 70 ms to import, and most of what is given has no fence
    from markdown_it import MarkdownIt

    for token in MarkdownIt("commonmark").parse(text):
        if token.type == "fence" and token.map is not None:
            start, end = token.map
            yield start, (end, token.info.strip().split(" ")[0].lower())


def _marked(
    lines: Sequence[str],
    fences: Mapping[int, tuple[int, str]],
    name: str,
    unread: list[Unread],
) -> Iterator[PostLine]:
    block, at = 0, 0
    headed: dict[Kind, float] = {}
    while at < len(lines):
        line = lines[at]
        if at in fences:
            end, language = fences[at]
            block += 1
            yield PostLine(at + 1, "", block)
            hints = _with(headed, FENCE_HINTS.get(language), FENCED)
            hints["prose"] = hints.get("prose", 0.0) + PROSE_IN_FENCE
            last = end - 1 if end <= len(lines) and _closes(lines, end - 1, at) else end
            for number in range(at + 1, min(last, len(lines))):
                yield PostLine(number + 1, lines[number], block, hints)
            if last < end:
                yield PostLine(end, "", block)
            block += 1
            at = max(end, at + 1)
            continue
        at += 1
        title = _MARKED.match(line)
        if title is not None and not _heads_settings(lines, at):
            block += 1
            headed = _with({}, _headed(title["title"]), HEADED)
            yield PostLine(at, "", block)
            continue
        yield PostLine(at, _free(line, at, name, unread), block, headed)


def _heads_settings(lines: Sequence[str], at: int) -> bool:
    """Tell whether a comment of a configuration only looks like a heading."""
    following = next((line for line in lines[at : at + 2] if line.strip()), "")
    return SETTING.match(following) is not None


def _closes(lines: Sequence[str], at: int, start: int) -> bool:
    return at > start and lines[at].strip(" \t>")[:3] in ("```", "~~~")


def _with(hints: Mapping[Kind, float], kind: Kind | None, weight: float) -> dict[Kind, float]:
    out = dict(hints)
    if kind is not None:
        out[kind] = out.get(kind, 0.0) + weight
    return out


def _headed(title: str) -> Kind | None:
    return next((kind for words, kind in HEADING_HINTS if words.search(title)), None)


def _free(line: str, number: int, name: str, unread: list[Unread]) -> str:
    """Give a line outside of fences without what only serves the form or the page."""
    if _CHECK.match(line) or _NOTHING.match(line):
        return ""
    image = _IMAGE.search(line)
    if image is not None:
        unread.append(
            Unread(source=name, line=number, reason="an image cannot be read", text=image[0])
        )
        line = _IMAGE.sub("", line)
    return _TAG.sub(" ", line) if "<" in line else line
