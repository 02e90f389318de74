"""What a program read off a screenshot: tracebacks with typographic signs, broken or glued lines.

Only what the form of a traceback or a command leaves no doubt about is put right; letters that were
taken for others (l and 1, O and 0) cannot be told and stay.
"""

from __future__ import annotations

import re

from trainrx.inputs.containers import read_content
from trainrx.inputs.content import Content, Found
from trainrx.inputs.recognise import COMMAND
from trainrx.model.findings import Unread
from trainrx.model.pattern import late

CERTAIN = True
LARGEST = 1 << 20
_QUOTE = '[“”„"＂]'
SIGNS = late(
    r"(?m)^[ \t]*File ?(?:[“”„＂]|\"[^\n\"]{1,300}[“”„＂])"
    r"|^Traceback ?(?:（|\([a-z ]{18,24}\) ?：)|^[\w.]{1,80}(?:Error|Exception)："
)
"""What no program prints: only a text has it that was read off a picture, or typed."""
_HEADER = late(r"(?m)^Traceback ?[(（] ?most ?recent ?call ?last ?[)）] ?[:：]?[ \t]*$")
_BROKEN = late(
    rf"(?m)^([ \t]*File ?{_QUOTE}[^\n“”„\"＂]{{0,300}}?)[ \t]*\n"
    rf"[ \t]*([^\n“”„\"＂]{{1,300}}{_QUOTE}[^\n]{{0,300}})$"
)
_FRAME = late(
    rf"(?m)^([ \t]*)File ?{_QUOTE} ?([^\n“”„\"＂]{{1,300}}?) ?{_QUOTE} ?[,，] ?line ?(\d{{1,7}})"
    r"(?: ?[,，] ?in ?([^\n]{1,200}))?$"
)
_ERROR = late(r"(?m)^([\w.]{1,80}(?:Error|Exception|Interrupt|Warning)) ?： ?")
_UNIT = late(r"(?<=\d)(?=[KMG]iB\b)|(?<=[a-z]{3})(?=\d{1,6}(?:\.\d{1,3})? ?[KMG]iB\b)")
_DASH = late(r"(?<!\S)[—–―]{1,2}(?=[A-Za-z])")
REPAIRED = "was read off a picture: signs and broken lines of its tracebacks were put right"


def contained(content: Content) -> Found | None:
    """Read the text of a screenshot as a post, put right; None where a text is none."""
    head = content.head
    if head.isascii() or not SIGNS.search(head) or len(content.text) > LARGEST:
        return None
    text = put_right(content.text.replace("\r\n", "\n"))
    if SIGNS.search(text):
        return None
    own = Content(content.name, data=text.encode(), pasted=True, budget=content.budget)
    inputs, unread = read_content(own)
    return inputs, [Unread(source=content.name, reason=REPAIRED), *unread]


def put_right(text: str) -> str:
    """Give tracebacks the form that Python gives them; lines keep their numbers."""
    text = _BROKEN.sub(r"\1\2\n", text)
    text = _FRAME.sub(_frame, _HEADER.sub("Traceback (most recent call last):", text))
    text = _UNIT.sub(" ", _ERROR.sub(r"\1: ", text))
    return "\n".join(map(_command, text.split("\n")))


def _command(line: str) -> str:
    return _DASH.sub("--", line) if COMMAND.match(line) or _DASH.match(line) else line


def _frame(found: re.Match[str]) -> str:
    function = f", in {found[4]}" if found[4] else ""
    return f'{found[1] or "  "}File "{found[2]}", line {found[3]}{function}'
