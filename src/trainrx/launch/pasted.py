"""Take apart a text in which a person pasted the command and the log together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainrx.inputs.encoding import decode_text
from trainrx.inputs.recognise import LOG, SAMPLE
from trainrx.inputs.stream import CHUNK, chunks
from trainrx.launch.find import looks_like_launch
from trainrx.model.job import Input
from trainrx.model.pattern import late

PROMPT = late(
    r"[ \t]*(?:(?:[\w.@:~/()\[\] -]{1,80}#|[\w.@:~/()\[\] -]{0,80}[$>]|\+{1,3}|[^\n：]{0,30}：)"
    r"[ \t]*)?`{0,3}[ \t]*"
)
"""What stands in front of a command: a prompt, the trace of `bash -x`, "命令："."""
ASSIGNMENT = late(r"[ \t]*(?:export[ \t]+)?[A-Za-z_]\w*=\S*[ \t]*")
SETTING = late(r"\s--?[A-Za-z]|\.(?:ya?ml|json)\b|\s[\w.]+=")
"""A command sets something; a sentence that begins like one does not."""


def holds_log(text: str) -> bool:
    """Tell whether a text has lines only programs print."""
    return LOG.search(text[:SAMPLE]) is not None


def pasted_script(log: Input) -> Input | None:
    """Give the commands among the lines of a log, each on its own line, or None.

    Only the beginning of a long log is looked at: that is where a person puts the command.
    """
    text = log.text[:CHUNK] if log.text is not None else _beginning(log)
    lines = text.split("\n")
    kept = dict(_commands(lines))
    if not any(is_command for _, is_command in kept.values()):
        return None
    script = "\n".join(kept[number][0] if number in kept else "" for number in range(len(lines)))
    return Input(kind="script", name=log.name, path=log.path, text=script)


def _beginning(log: Input) -> str:
    return decode_text(next(chunks(log, lambda _: None), b"")).replace("\r\n", "\n")


def _commands(lines: Sequence[str]) -> Iterator[tuple[int, tuple[str, bool]]]:
    """Give number, text and kind of the lines that belong to a command or set a variable."""
    start = 0
    while start < len(lines):
        end = start
        while end + 1 < len(lines) and lines[end].rstrip().endswith("\\"):
            end += 1
        block = _command(lines[start : end + 1])
        if block:
            yield from ((start + i, (line, True)) for i, line in enumerate(block))
        else:
            yield from (
                (number, (lines[number], False))
                for number in range(start, end + 1)
                if ASSIGNMENT.fullmatch(lines[number])
            )
        start = end + 1


def _command(block: Sequence[str]) -> list[str]:
    """Give the lines of one command without the prompt, none when it is no training command."""
    prompt = PROMPT.match(block[0])
    first = block[0][prompt.end() :] if prompt is not None else block[0]
    lines = [first, *block[1:]]
    lines[-1] = lines[-1].rstrip().rstrip("`")
    text = "\n".join(lines)
    return lines if looks_like_launch(text) and SETTING.search(text) else []
