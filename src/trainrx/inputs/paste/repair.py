"""What copying does to code, undone: typographic signs, odd spaces, entities, lost breaks."""

from __future__ import annotations

import html
from collections.abc import Sequence

from trainrx.inputs.paste.lines import continues
from trainrx.inputs.paste.segment import PostLine
from trainrx.inputs.paste.signs import OPTION, OVERRIDE, Kind
from trainrx.inputs.recognise import COMMAND
from trainrx.model.job import LineRepair, RepairKind
from trainrx.model.pattern import late

CODE: tuple[Kind, ...] = ("script", "config", "python", "env")
_SPACES = str.maketrans(
    {
        **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u202f\u3000", " "),
        **dict.fromkeys("\u200b\u200c\u200d\u200e\u200f\u00ad\ufeff\u2060", ""),
    }
)
_ENTITY = late(r"&(?:amp|lt|gt|quot|apos|nbsp|#\d{2,5}|#[xX][0-9a-fA-F]{2,5});")
_WIDE = {chr(sign + 0xFEE0): chr(sign) for sign in range(ord("!"), ord("~") + 1)}
_KEPT = "，：；！？（）"
"""Wide signs that Chinese text in a value needs itself."""
_SIGNS = str.maketrans(
    {
        **{wide: plain for wide, plain in _WIDE.items() if wide not in _KEPT},
        **dict.fromkeys("“”„‟", '"'),
        **dict.fromkeys("‘’‚‛", "'"),
    }
)
_WIDE_KEY = late(r"^(\s*[\w.-]{1,60})：\s*")
_DASH = late(r"(?<!\S)[—–―](?=[A-Za-z])|(?<!\S)－－(?=[A-Za-z])")
_OPERAND = late(r"\s+[^\s=]+\s*\\?\s*$|\S+\.py\s*\\?\s*$")
"""A line that may be an argument of the command above, be it no option."""
_VARIABLE = late(r"[A-Z][A-Z0-9_]+=\S*\s*$")
_RUN_TOGETHER = late(r"(?<=\S) \\ +(?=--?[A-Za-z])")


def plain_text(lines: Sequence[PostLine]) -> tuple[list[PostLine], list[LineRepair]]:
    """Give lines with plain spaces, and without the entities of web pages."""
    out: list[PostLine] = []
    done: list[LineRepair] = []
    for line in lines:
        text = line.text
        if not text.isascii():
            text = text.translate(_SPACES)
            done += _changed(line, text, "spaces")
        if "&" in text and _ENTITY.search(text):
            text = html.unescape(text).translate(_SPACES)
            done += [LineRepair(line=line.number, what="entities")]
        out.append(line if text == line.text else line._replace(text=text))
    return out, done


def mended(kind: Kind, lines: Sequence[PostLine]) -> tuple[list[PostLine], list[LineRepair]]:
    """Give code as it was typed, with what was repaired; other text as it stands."""
    if kind not in CODE:
        return list(lines), []
    out = [line._replace(text=_typewritten(line.text)) for line in lines]
    done = [one for old, new in zip(lines, out, strict=True) for one in _changed(old, new.text)]
    if kind != "script":
        return out, done
    out, lost = _continued(out)
    return _ended(out), done + [LineRepair(line=number, what="continuation") for number in lost]


def _changed(line: PostLine, text: str, what: RepairKind = "signs") -> list[LineRepair]:
    return [] if line.text == text else [LineRepair(line=line.number, what=what)]


def _typewritten(text: str) -> str:
    """Give code its own signs back: dashes, quotation marks, wide letters; not to comments."""
    if text.isascii() or text.lstrip().startswith("#"):
        return text
    return _WIDE_KEY.sub(r"\1: ", _DASH.sub("--", text)).translate(_SIGNS)


def _continued(lines: Sequence[PostLine]) -> tuple[list[PostLine], list[int]]:
    """Give a command back the signs that it goes on; the numbers of the lines that lacked one."""
    out = [line._replace(text=_RUN_TOGETHER.sub(" ", line.text)) for line in lines]
    lost = [old.number for old, new in zip(lines, out, strict=True) if old.text != new.text]
    last: int | None = None
    for at, line in enumerate(out):
        text = line.text
        if not text.strip():
            continue
        goes_on = _is_argument(text) or (_OPERAND.match(text) and _is_argument(_below(out, at)))
        if last is not None and goes_on and not continues(out[last].text):
            lost += _joined(out, range(last, at))
            lost += _joined(out, range(_set_above(out, last), last))
        last = at if goes_on or COMMAND.match(text) or last is not None else None
    return out, lost


def _joined(lines: list[PostLine], span: range) -> list[int]:
    """Put the sign that a command goes on behind lines; the numbers of those that are not blank."""
    for at in span:
        lines[at] = lines[at]._replace(text=lines[at].text.rstrip() + " \\")
    return [lines[at].number for at in span if lines[at].text.strip() != "\\"]


def _set_above(lines: Sequence[PostLine], command: int) -> int:
    """Give the first of the lines right above a command that set variables for it alone."""
    first = command
    while first and _VARIABLE.match(lines[first - 1].text):
        first -= 1
    return first


def _is_argument(text: str) -> bool:
    return bool(OPTION.match(text) or OVERRIDE.match(text))


def _below(lines: Sequence[PostLine], at: int) -> str:
    return next((line.text for line in lines[at + 1 : at + 3] if line.text.strip()), "")


def _ended(lines: list[PostLine]) -> list[PostLine]:
    """Take off a sign that a command goes on where it does not."""
    last = max((at for at, line in enumerate(lines) if line.text.strip()), default=None)
    if last is not None and continues(lines[last].text):
        lines[last] = lines[last]._replace(text=lines[last].text.rstrip()[:-1])
    return lines
