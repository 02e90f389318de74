"""What copying does to a text, undone: quotation marks, prompts, typographic signs, lost breaks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from trainrx.inputs.paste.lines import ARGUMENT, continues
from trainrx.inputs.paste.segment import PostLine
from trainrx.inputs.paste.signs import OPTION, OVERRIDE, Kind
from trainrx.inputs.recognise import COMMAND, LOG
from trainrx.model.pattern import late

_QUOTE = late(r"[ \t]{0,3}(?:>[ \t]?)+")
_PYTHON_PROMPT = late(r"^\s*(?:>>> ?|\.\.\. |In \[\d*\]: ?|Out\[\d*\]: ?)")
_SHELL_PROMPT = late(
    r"[ \t]*(?:\([\w.-]{1,40}\) ?)?"
    r"(?:\[?[\w.-]{1,40}@[\w.-]{1,60}[ :][^\s$#]{0,80}\]?[$#] ?|[$%] |\+{1,3} )"
    r"|[ \t]*\([\w.-]{1,40}\) ?[\w@:~/.-]{0,80}[$#] "
)
_NUMBERED = late(r"[ \t]*(\d{1,5})(?:[:|\t]| {2,})[ \t]?")
_LABEL = late(r"[ \t]*(?:[^\n：`]{1,30}：[ \t]*`?|`)(?=[^\s`])")
_BANG = late(r"^\s*!(?=[\w./])")
_CELL_MAGIC = late(r"\s*%%(?:bash|sh|script)\b.*$")
_ENV_MAGIC = late(r"\s*%env\s+([A-Za-z_]\w*)\s*[= ]\s*(.*)$")
_SPACES = str.maketrans(
    {**dict.fromkeys("\u00a0\u2007\u202f\u3000", " "), **dict.fromkeys("\u200b\ufeff\u2060", "")}
)
_SIGNS = str.maketrans(
    {
        **dict.fromkeys("“”„‟＂", '"'),
        **dict.fromkeys("‘’‚‛＇", "'"),
        "＝": "=",
        "＼": "\\",
        "－": "-",
        "＿": "_",
        "／": "/",
    }
)
_WIDE_KEY = late(r"^(\s*[\w.-]{1,60})：\s*")
_DASH = late(r"(?<!\S)[—–―](?=[A-Za-z])|(?<!\S)－－(?=[A-Za-z])")
ASKED = 2.0
"""What a prompt in front of a line says for a command, nats."""
CODE: tuple[Kind, ...] = ("script", "config", "python", "env")


def unquoted(lines: Sequence[PostLine]) -> list[PostLine]:
    """Take marks of quotation off where whole stretches bear them, and numbers of lines."""
    out = list(lines)
    for start, end in _runs(lines, _is_quoted):
        if end - start >= 2 or len(lines) <= 3:
            for at in range(start, end):
                out[at] = out[at]._replace(text=_QUOTE.sub("", out[at].text, count=1))
    for start, end in _runs(out, lambda text: _NUMBERED.match(text) is not None):
        if end - start >= 3 and _counts_up(out[start:end]):
            for at in range(start, end):
                out[at] = out[at]._replace(text=_NUMBERED.sub("", out[at].text, count=1))
    return out


def _is_quoted(text: str) -> bool:
    return text.lstrip().startswith(">") and not text.lstrip().startswith(">>>")


def _runs(lines: Sequence[PostLine], test: Callable[[str], object]) -> Iterator[tuple[int, int]]:
    start: int | None = None
    for at, line in enumerate(lines):
        if test(line.text):
            start = at if start is None else start
        elif start is not None and line.text.strip():
            yield start, at
            start = None
    if start is not None:
        yield start, len(lines)


def _counts_up(lines: Sequence[PostLine]) -> bool:
    numbers = [int(found[1]) for line in lines if (found := _NUMBERED.match(line.text))]
    return all(b - a == 1 for a, b in pairwise(numbers))


def unprompted(lines: Sequence[PostLine]) -> list[PostLine]:
    """Take off the prompts of shells, of Python and of notebooks, and spaces that are no spaces.

    What a shell was asked begins a block of its own: what stands below is what it printed.
    """
    out: list[PostLine] = []
    before, block = None, 0
    for line in lines:
        text = line.text.translate(_SPACES)
        shell = _SHELL_PROMPT.match(text)
        asked = shell is not None and bool(text[shell.end() :].strip())
        if line.block != before or asked:
            block += 1
        before = line.block
        if shell is not None and asked:
            text = text[shell.end() :]
            hints = {**line.hints, "script": line.hints.get("script", 0.0) + ASKED}
            out.append(PostLine(line.number, text, block, hints))
        else:
            out.append(line._replace(text=_unmarked(text), block=block))
    return out


def _unmarked(text: str) -> str:
    """Take the marks of a notebook's cell off a line."""
    text = _command_alone(_PYTHON_PROMPT.sub("", text, count=1))
    if _CELL_MAGIC.match(text):
        return ""
    env = _ENV_MAGIC.match(text)
    return f"export {env[1]}={env[2]}" if env else _BANG.sub("", text, count=1)


def _command_alone(text: str) -> str:
    """Take off what introduces a command in its own line ("命令：..."), and quotes around it."""
    label = _LABEL.match(text)
    if label is None or LOG.search(text):
        return text
    bare = text[label.end() :].strip().rstrip("`")
    return bare if COMMAND.match(bare) and ARGUMENT.search(bare) else text


def typewritten(text: str) -> str:
    """Give code its own signs back: dashes, quotation marks, wide letters; not to comments."""
    if text.lstrip().startswith("#"):
        return text
    return _WIDE_KEY.sub(r"\1: ", _DASH.sub("--", text)).translate(_SIGNS)


def continued(lines: Sequence[PostLine]) -> tuple[list[PostLine], list[int]]:
    """Give a command back the signs that it goes on; the numbers of the lines that lacked one."""
    out = list(lines)
    lost: list[int] = []
    last: int | None = None
    for at, line in enumerate(lines):
        if not line.text.strip():
            continue
        text = line.text
        goes_on = OPTION.match(text) or OVERRIDE.match(text)
        if last is not None and goes_on and not continues(out[last].text):
            for between in range(last, at):
                out[between] = out[between]._replace(text=out[between].text.rstrip() + " \\")
            lost.append(out[last].number)
        last = at if goes_on or COMMAND.match(text) or last is not None else None
    return out, lost
