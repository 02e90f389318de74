"""Where an argument stands among the words of a script, and where one can be put."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainrx.fix.patch.tokens import DocumentWords, Run, Token
from trainrx.fix.patch.wanted import indent_of, line_end, same

_FLAG = re.compile(r"[\"']?(?P<sign>--?|\+{0,2})(?P<name>[A-Za-z_@][\w./@-]*)(?P<eq>=)?", re.ASCII)
_MORE = re.compile(r"[\"']?\$(?:@|\*|\{[A-Za-z_]\w*\[[@*]\])")
_CLEAN = re.compile(r"[ \t\r\n\\]*")


class ArgumentPlace(NamedTuple):
    """An argument as it stands: the word at `at` of a run, and the words of its values.

    `name`: span of the name; `eq`: the value stands in the same word, behind `=`.
    """

    run: Run
    at: int
    flag: Token
    name: tuple[int, int]
    values: tuple[Token, ...]
    eq: bool

    @property
    def end(self) -> int:
        """Give the position behind the last value."""
        return self.values[-1].end if self.values and not self.eq else self.flag.end


def is_flag(token: Token) -> bool:
    """Tell a flag from a value: `-1` and `1e-5` are none."""
    match = _FLAG.match(token.text)
    return match is not None and match["sign"].startswith("-")


def begins_argument(token: Token) -> bool:
    """Tell a flag, or `name=value`, from a value that stands alone."""
    match = _FLAG.match(token.text)
    return match is not None and (match["sign"].startswith("-") or bool(match["eq"]))


def spots(words: DocumentWords, name: str) -> Iterator[ArgumentPlace]:
    """Give the places where an argument of a name stands."""
    for run in words.runs:
        for at, token in enumerate(run.words):
            match = _FLAG.match(token.text)
            if match is None or not same(match["name"], name):
                continue
            eq = bool(match["eq"])
            if not eq and (
                not match["sign"].startswith("-") or match.end() < len(token.text.rstrip("\"'"))
            ):
                continue
            span = (token.start + match.start("name"), token.start + match.end("name"))
            values = _behind(token, match) if eq else _values(run, at)
            yield ArgumentPlace(run, at, token, span, values, eq)


def _behind(token: Token, match: re.Match[str]) -> tuple[Token, ...]:
    text = token.text[match.end() :]
    if token.text[0] in "\"'" and text.endswith(token.text[0]):
        text = text[:-1]
    return (Token(text, token.start + match.end()),)


def _values(run: Run, at: int) -> tuple[Token, ...]:
    out: list[Token] = []
    for token in run.words[at + 1 :]:
        if is_flag(token) or _MORE.match(token.text):
            break
        out.append(token)
    return tuple(out)


def is_clean(text: str) -> bool:
    """Tell whether nothing but blanks, line ends and their backslashes stand in a gap."""
    return _CLEAN.fullmatch(text) is not None


def gap_before(text: str, run: Run, at: int) -> str:
    """Give what stands between a word and the one before it, "" for the first."""
    if at > 0:
        return text[run.words[at - 1].end : run.words[at].start]
    return text[run.assigns[-1].end : run.words[0].start] if run.assigns and run.words else ""


def style(text: str, run: Run) -> str:
    """Give what stands in front of an argument in this run: a blank, or a new line's beginning."""
    lines = [
        (gap, at)
        for at, token in enumerate(run.words)
        if "\n" in (gap := gap_before(text, run, at)) and (at == 0 or begins_argument(token))
    ]
    usual = [gap for gap, _ in lines if is_clean(gap) and gap.count("\n") == 1]
    if usual:
        return usual[-1]
    if lines:
        at = lines[-1][1]
        return line_end(text) + indent_of(text, run.words[at].start)
    return " "


def uses_equals(run: Run) -> bool:
    """Tell whether this run writes all its flags as `--name=value`."""
    long = [token.text for token in run.words if token.text.startswith("--")]
    valued = [text for text in long if "=" in text]
    return bool(valued) and len(valued) == len(long)


def behind(text: str, run: Run, end: int) -> int:
    """Give where to go on behind a word: of a list, behind the comment on its line."""
    if run.kind != "items":
        return end
    stop = text.find("\n", end)
    rest = text[end : stop if stop >= 0 else len(text)].rstrip("\r")
    return end + len(rest) if re.match(r"[ \t]+#", rest) else end
