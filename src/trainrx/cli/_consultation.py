"""`--ask`: the questions of an answer, put one by one on the terminal."""

from __future__ import annotations

import io
import select
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

import msgspec

from trainrx.cli._output import complain, fitted
from trainrx.launch.reply_values import is_not_known, yes_or_no
from trainrx.launch.request import Reply, Request
from trainrx.model.errors import UsageError
from trainrx.model.result import Ask, Diagnosis
from trainrx.render import consultation as pages
from trainrx.render.document import Document, View
from trainrx.render.formats import load
from trainrx.render.redact import masked

MOST = 5
"""Questions put at most."""
STOP = frozenset(("q", "quit", "exit", "退出", "结束"))
PASTED_WITHIN = 0.15
"""Seconds within which the next line of a paste is there."""
Answerer = Callable[[Request], Diagnosis]


class Terminal:
    """Where somebody reads questions and types."""

    def __init__(self, source: TextIO, out: TextIO) -> None:
        self._source = source
        self._out = out

    def say(self, text: str) -> None:
        """Write a text; the answer itself goes elsewhere."""
        self._out.write(fitted(text, self._out.encoding or "utf-8"))
        self._out.flush()

    def line(self) -> str | None:
        """Wait for a line; None at the end of what is typed."""
        data = self._source.buffer.readline()
        text = data.decode(self._source.encoding or "utf-8", "replace")
        return text.rstrip("\r\n") if data else None

    def is_pasting(self) -> bool:
        """Tell whether the next line is there already: nobody types as fast."""
        try:
            return bool(select.select([self._source.fileno()], [], [], PASTED_WITHIN)[0])
        except (OSError, ValueError, io.UnsupportedOperation):
            return False


def terminal() -> Terminal:
    """Give the terminal this process runs on.

    Raises:
        UsageError: there is none to read from or to write to.
    """
    source, out = sys.stdin, sys.stderr
    if source is None or out is None or not (source.isatty() and out.isatty()):
        raise UsageError(
            "--ask puts its questions on a terminal, and here is none. Without one, answer the "
            "questions of `asks` (--format json) with --answer ID=VALUE."
        )
    return Terminal(source, out)


def consult(
    request: Request, diagnosed: Answerer, seen: View, typed: Terminal
) -> tuple[Request, Diagnosis]:
    """Put questions until the cause is likely, none is left, enough were put or it is stopped."""

    def masked_answer(asked: Request) -> Diagnosis:
        return masked(diagnosed(asked), seen.redaction)

    answer = masked_answer(request)
    put = 0
    while (ask := next_question(answer, put)) is not None:
        put += 1
        typed.say("\n" + _text(pages.question(ask, put, MOST, seen), seen))
        replied = _replied(ask, request, masked_answer, typed)
        if replied is None:
            break
        request, after = replied
        typed.say("\n" + _text(pages.changed(answer, after, seen), seen))
        answer = after
    typed.say("\n" if put else _text(pages.nothing_to_ask(answer, seen), seen) + "\n")
    return request, answer


def next_question(answer: Diagnosis, put: int = 0) -> Ask | None:
    """Give the best question; None where enough were `put`, none is open or the cause is likely."""
    certain = bool(answer.causes) and answer.causes[0].verdict == "likely"
    return None if put >= MOST or certain or not answer.asks else answer.asks[0]


def show_options(request: Request, seen: View, typed: Terminal) -> None:
    """Say how to have the same answer without the questions."""
    if request.answers:
        typed.say(_text(pages.options(request.answers, seen), seen))


def _text(document: Document, seen: View) -> str:
    return load("text").document(document, seen)


def _replied(
    ask: Ask, request: Request, diagnosed: Answerer, typed: Terminal
) -> tuple[Request, Diagnosis] | None:
    """Read a reply and answer anew; what is no answer is typed again. None: no more questions."""
    while True:
        reply = read_reply(ask, typed)
        if reply is None:
            return None
        others = tuple(item for item in request.answers if item.id != reply.id)
        changed = msgspec.structs.replace(request, answers=(*others, reply))
        try:
            return changed, diagnosed(changed)
        except UsageError as error:
            complain(str(error.__cause__ or error), request.lang)


def read_reply(ask: Ask, typed: Terminal) -> Reply | None:
    """Read what is typed, a whole paste where it is one; None: no more questions."""
    typed.say("> ")
    first = typed.line()
    said = (first or "").strip()
    if first is None or said.lower() in STOP:
        return None
    if not said:
        return Reply(id=ask.id, text="unknown")
    if said.startswith("@") and len(said) > 1:
        return Reply(id=ask.id, path=str(Path(said[1:].strip()).expanduser()))
    chosen = said.isdigit() or said in ask.values
    word = chosen or yes_or_no(said) is not None or is_not_known(said)
    if (word or ask.answer != "output") and not typed.is_pasting():
        return Reply(id=ask.id, text=said)
    return Reply(id=ask.id, text="\n".join((said, *_paste(typed))).rstrip())


def _paste(typed: Terminal) -> Iterator[str]:
    """Give the lines up to the empty one that nothing follows at once."""
    while (line := typed.line()) is not None:
        if not line.strip() and not typed.is_pasting():
            return
        yield line
