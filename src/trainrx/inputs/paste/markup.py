"""The structure of a post: fences, headings, quotations, and what of it only serves the form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from trainrx.inputs.paste.lines import form
from trainrx.inputs.paste.segment import PostLine
from trainrx.inputs.paste.signs import PRINTED, SETTING, SYSTEM, Kind
from trainrx.model.findings import NO_IMAGE, NO_LINK, Unread
from trainrx.model.pattern import late

LONGEST_MARKDOWN = 200_000
"""Characters of a post that is read as Markdown; issue trackers and chats take less."""
FENCE = late(r"(?m)^[ \t>]{0,12}(?:```|~~~)")
HEADING = late(r"(?m)^#{1,6} \S.{0,200}$")
_MARKED = late(r"\s*(?:#{1,6} +(?!.*[=(\\])|\*\*)(?P<title>[^*#`]{2,80}?)(?:\*\*)?[:：]?\s*$")
_COMMENT = late(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FORM = late(
    r"check|before (?:asking|submit)|code of conduct|contribut|检查|自查|提交前|前置", re.IGNORECASE
)
_SPECIFIC = late(r"\d|[A-Z]{2,}|\w_\w")
"""What headings of forms do not have: numbers, abbreviations, names of programs."""
_IMAGE = late(r"!\[[^\]\n]{0,200}\]\([^)\n]{1,500}\)|<img\b[^>\n]{0,500}>")
_LABEL = late(r"(?![-*\"'{\[(#])(?=[^\n]{0,60}[ \u3400-\u9fff])[^\n=\"{}\\]{2,60}[:：]$")
_WORD_LABEL = late(r"([A-Za-z]{3,20})[:：]\s*$")
_LINK = late(
    r"https?://[^\s)\]>\"'`]{0,300}?(?:\.(?:log|txt|out|err|zip|gz|tgz|json|ya?ml|ipynb|sh|csv)\b"
    r"|/user-attachments/|//gist\.|//pastebin\.|/wandb\.ai/|//wandb\.ai/|//swanlab\.|//colab\.)"
    r"[^\s)\]>\"'`]{0,300}"
)
_SUMMARY = late(r"<summary>(?P<title>[^<\n]{1,200})</summary>", re.IGNORECASE)
_DETAILS_END = late(r"\s*</details>", re.IGNORECASE)
_TAG = late(r"\s*</?(?:details|summary|p|br|div|sub|sup|b|i|code|pre)\b[^>\n]{0,100}>\s*")
_CHECK = late(r"\s*[-*] \[[ xX]\] ")
_NOTHING = late(r"\s*_?(?:No response|无|暂无|N/?A)_?\s*$", re.IGNORECASE)

FENCE_HINTS: Mapping[str, Kind] = {
    **dict.fromkeys(
        ("bash", "sh", "shell", "zsh", "console", "bat", "powershell", "cmd"), "script"
    ),
    **dict.fromkeys(("yaml", "yml", "json", "jsonc", "toml"), "config"),
    **dict.fromkeys(("python", "py", "python3"), "python"),
    **dict.fromkeys(("log", "traceback", "pytb", "text", "txt", "output", "stdout", "logs"), "log"),
}
HEADING_HINTS: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (
        late(
            r"\blogs?\b|traceback|\berrors?\b|\boutputs?\b|报错|日志|错误信息|输出", re.IGNORECASE
        ),
        "log",
    ),
    (
        late(
            r"\bsystem\b|environment|version|\benv\b|\bpip\b|packages|依赖|环境|版本|hardware|硬件|系统",
            re.IGNORECASE,
        ),
        "versions",
    ),
    (
        late(
            r"\bcommand|\bscript|reproduc|复现|命令|脚本|\blaunch|how to run|训练参数",
            re.IGNORECASE,
        ),
        "script",
    ),
    (late(r"\bconfig|\byaml\b|配置|参数", re.IGNORECASE), "config"),
    (
        late(
            r"describ|expected|what happened|problem|question|问题|描述|期望|现象|\bbug\b",
            re.IGNORECASE,
        ),
        "prose",
    ),
)
FENCED = 1.0
HEADED = 1.2
PROSE_IN_FENCE = -2.0
LONGEST_COMMENT = 20
"""Lines of a comment that are looked past for the code it belongs to."""
TITLE: Mapping[Kind, float] = {"prose": 4.0}
"""A title is what somebody says of the case."""


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

    # the parser takes a carriage return alone (a progress bar) for the end of a line
    for token in MarkdownIt("commonmark").parse(text.replace("\r", " ")):
        if token.type == "fence" and token.map is not None:
            start, end = token.map
            yield start, (end, token.info.strip().split(" ")[0].lower())


class _Reading(NamedTuple):
    """Where the reading of a post stands: its block, and what the heading above says."""

    block: int
    headed: Mapping[Kind, float] = {}
    label: bool = False


def _marked(
    lines: Sequence[str],
    fences: Mapping[int, tuple[int, str]],
    name: str,
    unread: list[Unread],
) -> Iterator[PostLine]:
    at, now = 0, _Reading(0)
    while at < len(lines):
        if at in fences:
            end, language = fences[at]
            now = now._replace(block=now.block + 1)
            yield from _fenced(lines, range(at, end), language, now)
            now = now._replace(block=now.block + 1)
            at = max(end, at + 1)
            continue
        now, line = _read(lines, at, now)
        at += 1
        yield PostLine(at, _free(line.text, at, name, unread), line.block, line.hints)


def _fenced(lines: Sequence[str], span: range, language: str, now: _Reading) -> Iterator[PostLine]:
    """Give the lines of a fence, its marks blank; of a diff the side that is applied."""
    hints = _with(now.headed, FENCE_HINTS.get(language), FENCED)
    hints["prose"] = hints.get("prose", 0.0) + PROSE_IN_FENCE
    last = span.stop - 1
    closed = last > span.start and lines[last].strip(" \t>")[:3] in ("```", "~~~")
    for at in span:
        if at == span.start or (closed and at == last):
            yield PostLine(at + 1, "", now.block)
        else:
            yield PostLine(at + 1, lines[at], now.block, hints)


def _read(lines: Sequence[str], at: int, now: _Reading) -> tuple[_Reading, PostLine]:
    """Read a line outside of fences: a heading, a label that introduces, or any other."""
    text = lines[at]
    if not text or text.isspace():
        ends = now.label and at and lines[at - 1].strip() and not _introduces(lines[at - 1])
        # what a label introduces ends with its paragraph
        now = _Reading(now.block + 1) if ends else now
        return now, PostLine(at + 1, "", now.block)
    title = _SUMMARY.search(text) or _MARKED.match(text)
    if title is not None and not _is_comment(lines, at):
        return _titled(title["title"], at, now.block + 1)
    if _DETAILS_END.match(text):
        return _Reading(now.block + 1), PostLine(at + 1, "", now.block)
    if _introduces(text) or _heads_block(lines, at):
        now = _Reading(now.block + 2, _with({}, _headed(text), HEADED), label=True)
        return now, PostLine(at + 1, text, now.block - 1)
    return now, PostLine(at + 1, text, now.block, now.headed)


def _titled(title: str, at: int, block: int) -> tuple[_Reading, PostLine]:
    """Read a heading: what it says of the lines below, and its words where they are evidence."""
    kind = _headed(title)
    serves = (kind is not None or _FORM.search(title)) and not _SPECIFIC.search(title)
    line = PostLine(at + 1, "" if serves else title, block, TITLE)
    return _Reading(block + 1, _with({}, kind, HEADED)), line


def _introduces(text: str) -> bool:
    """Tell whether a line only says what stands below it ("my script:", 报错如下：)."""
    bare = text.strip()
    if not bare.endswith((":", "：")) or _LABEL.match(bare) is None:
        return False
    if any(sign.match(text) for sign in (SETTING, PRINTED, SYSTEM)):
        return False
    return _headed(text) is not None


def _heads_block(lines: Sequence[str], at: int) -> bool:
    """Tell whether a single word that could be a key ("outputs:") stands alone above a fence."""
    name = _WORD_LABEL.match(lines[at])
    if name is None or _headed(name[1]) is None:
        return False
    following = next((line for line in lines[at + 1 : at + 3] if line.strip()), "")
    return FENCE.match(following) is not None


def _is_comment(lines: Sequence[str], at: int) -> bool:
    """Tell whether a comment of code only looks like a heading: it stands right beside code."""
    text = lines[at].lstrip()
    if SYSTEM.match(text):
        return True
    if not text.startswith("# ") or _headed(text) is not None:
        return SETTING.match("".join(lines[at + 1 : at + 2])) is not None
    return any(_is_code(_beside(lines, at, step)) for step in (-1, 1))


def _beside(lines: Sequence[str], at: int, step: int) -> str:
    """Give the line next to a comment and its like; "" where a blank line is between."""
    for _ in range(LONGEST_COMMENT):
        at += step
        if not 0 <= at < len(lines):
            return ""
        if not lines[at].lstrip().startswith("# "):
            return lines[at]
    return ""


def _is_code(line: str) -> bool:
    return _kind(line) not in (None, "prose", "log")


def _kind(line: str) -> Kind | None:
    """Tell what a line speaks for most by itself; None where for nothing."""
    scores = form(line).scores
    kind = max(scores, key=lambda one: scores[one])
    return kind if scores[kind] > 0.0 else None


def _with(hints: Mapping[Kind, float], kind: Kind | None, weight: float) -> dict[Kind, float]:
    out = dict(hints)
    if kind is not None:
        out[kind] = out.get(kind, 0.0) + weight
    return out


def _headed(title: str) -> Kind | None:
    return next((kind for words, kind in HEADING_HINTS if words.search(title)), None)


def _free(line: str, number: int, name: str, unread: list[Unread]) -> str:
    """Give a line outside of fences without what only serves the form or the page."""
    if not line or _CHECK.match(line) or _NOTHING.match(line):
        return ""
    if "![" in line or "<img" in line:
        unread += _linked(_IMAGE, line, number, name, NO_IMAGE)
        line = _IMAGE.sub("", line)
    if "://" in line and _kind(line) in (None, "prose"):
        unread += _linked(_LINK, line, number, name, NO_LINK)
    return _TAG.sub(" ", line).rstrip() if "<" in line else line


def _linked(
    sign: re.Pattern[str], line: str, number: int, name: str, reason: str
) -> Iterator[Unread]:
    for found in sign.finditer(line):
        yield Unread(source=name, line=number, reason=reason, text=found[0])
