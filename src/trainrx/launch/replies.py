"""What is replied to the questions of an answer, as facts, inputs and options like any other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec

from trainrx.evidence.readers import as_evidence
from trainrx.inputs.files import read_path, read_stdin
from trainrx.inputs.hardware import read_gpu
from trainrx.inputs.recognise import recognise
from trainrx.knowledge.store import Knowledge
from trainrx.launch.reply_values import (
    OPTION,
    ReplyError,
    is_not_known,
    value_of,
    yes_or_no,
)
from trainrx.launch.request import Reply, Request
from trainrx.model.facts import ANSWERED, SYMPTOM, Fact, Origin, fact
from trainrx.model.job import Input, InputKind
from trainrx.model.pattern import late
from trainrx.model.protocols import ProtocolStep, StepOutcome
from trainrx.versions.listing import read_versions

SOURCE = "answer "
"""What the id of a question stands behind where its answer is cited."""
WHOLE: dict[str, InputKind] = {
    "launch": "script",
    "log": "log",
    "rank-log": "log",
    "whole-log": "log",
    "versions": "versions",
}
"""Questions for a whole input, and what it is."""
LAUNCHES: tuple[InputKind, ...] = ("script", "config", "args")
BY_CONTENT: tuple[InputKind, ...] = (*LAUNCHES, "env", "versions")
"""What is read as what it is, whatever was asked; all else is the output of a command."""


_ONE_WORD = late(r"[\w-]{1,40}")


class Looked(NamedTuple):
    """A symptom somebody looked for.

    Attributes:
        symptom: its id.
        seen: whether it was there; None: the input of this `source` tells.
        source: what the answer is cited by.
    """

    symptom: str
    seen: bool | None
    source: str


class Replies(msgspec.Struct, frozen=True, kw_only=True):
    """What was replied, but for what an option says too; `ids` holds those not known as well."""

    ids: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    looked: tuple[Looked, ...] = ()
    inputs: tuple[Input, ...] = ()


_Told: TypeAlias = Fact | Looked | Input


def with_replies(request: Request, knowledge: Knowledge) -> tuple[Request, Replies]:
    """Read all replies; what an option says too becomes that option, where it is not given.

    Raises:
        ReplyError: no question has such an id, or what is replied is no answer to it.
        UsageError: a file of an output cannot be read.
    """
    told: list[_Told] = []
    for reply in request.answers:
        if not _is_question(reply.id, knowledge):
            raise ReplyError(f"{OPTION} {reply.id}: there is no question of this id.")
        if reply.path is None and is_not_known(reply.text):
            continue
        changed = _as_option(request, reply, knowledge)
        told += _told(reply, knowledge, request.stdin) if changed is None else ()
        request = changed or request
    return request, Replies(
        ids=tuple(reply.id for reply in request.answers),
        facts=tuple(item for item in told if isinstance(item, Fact)),
        looked=tuple(item for item in told if isinstance(item, Looked)),
        inputs=tuple(item for item in told if isinstance(item, Input)),
    )


def _is_question(ident: str, knowledge: Knowledge) -> bool:
    if not knowledge.symptoms:  # what reads launches alone knows few of the questions
        return True
    if ident.startswith(SYMPTOM):
        return ident.removeprefix(SYMPTOM) in knowledge.symptoms
    if ident in WHOLE or ident in knowledge.facts or ident in knowledge.params:
        return True
    return _step(ident, knowledge) is not None


def _step(ident: str, knowledge: Knowledge) -> ProtocolStep | None:
    """Give the step of a protocol that asks a question."""
    owner = knowledge.protocols.get(ident.partition(".")[0])
    return None if owner is None else owner.own.get(ident)


def _as_option(request: Request, reply: Reply, knowledge: Knowledge) -> Request | None:
    """Give the request with the option that says the same; None where there is none."""
    replace = msgspec.structs.replace
    if reply.path is not None:
        if reply.id == "launch":
            return replace(request, cmd=(*request.cmd, reply.path))
        is_log = WHOLE.get(reply.id) == "log"
        return replace(request, logs=(*request.logs, reply.path)) if is_log else None
    text = reply.text.strip()
    if reply.id == "hardware.gpu" and not request.cards:
        card = _card(text, knowledge)
        return replace(request, cards=(card,)) if card else None
    if reply.id == "launch.framework" and request.framework is None and "\n" not in text:
        return replace(request, framework=text)
    return None


def _card(text: str, knowledge: Knowledge) -> str:
    """Give what `--gpu` takes: the one line, or the first card nvidia-smi lists; else ""."""
    if "\n" not in text or read_gpu(text, knowledge.gpus).unread is None:
        return text
    named = read_versions(text, OPTION).gpus
    return named[0][0] if named else ""


def _told(reply: Reply, knowledge: Knowledge, stdin: bytes | None) -> Iterator[_Told]:
    source = SOURCE + reply.id
    entry = knowledge.facts.get(reply.id) or knowledge.params.get(reply.id)
    is_line = reply.path is None and "\n" not in reply.text.strip()
    said = yes_or_no(reply.text) if is_line else None
    if reply.id in WHOLE:
        if said is True:
            raise ReplyError(
                f"{OPTION} {reply.id}={reply.text}: expected the text itself "
                f'({OPTION} {reply.id}=@FILE reads it from a file), or "unknown".'
            )
        yield from () if said is False else (_whole(reply, stdin),)
    elif reply.id.startswith(SYMPTOM):
        symptom = reply.id.removeprefix(SYMPTOM)
        if said is None:
            yield (printed := _read(reply, stdin, "output"))
            source = printed.name
        yield Looked(symptom, said, source)
    elif is_line and (outcome := _outcome(reply, knowledge)) is not None:
        origin = Origin(source=source, text=outcome.id)
        told = {ANSWERED + reply.id: outcome.id, **outcome.facts}
        yield from (fact(name, value, origin, how="given") for name, value in told.items())
    elif entry is not None and is_line:
        value = value_of(reply.text, entry)
        yield fact(reply.id, value, Origin(source=source, text=reply.text.strip()), how="given")
    else:
        yield _output(_read(reply, stdin, "output"))


def _output(found: Input) -> Input:
    """Take what a command printed as what it is: evidence of a format, or another input."""
    dump = as_evidence(msgspec.structs.replace(found, kind="other"))
    if dump.kind == "evidence":
        return dump
    kind = recognise(found.text or "")
    return found if kind not in BY_CONTENT else msgspec.structs.replace(found, kind=kind)


def _outcome(reply: Reply, knowledge: Knowledge) -> StepOutcome | None:
    """Give the outcome of a step that is replied: by its id, its number, its words, or yes or no.

    Raises:
        ReplyError: it is one word, and no outcome.
    """
    step = _step(reply.id, knowledge)
    if step is None or not step.outcomes:
        return None
    said = reply.text.strip().lower()
    word = {True: "yes", False: "no", None: said}[yes_or_no(said)]
    for number, one in enumerate(step.outcomes, start=1):
        if word == one.id or said in (str(number), one.reads.en.lower(), one.reads.zh.lower()):
            return one
    if step.answer == "output" and not _ONE_WORD.fullmatch(said):
        return None  # what the command printed, in one line
    known = ", ".join(one.id for one in step.outcomes)
    raise ReplyError(f'{OPTION} {reply.id}={reply.text}: expected one of {known}, or "unknown".')


def _whole(reply: Reply, stdin: bytes | None) -> Input:
    kind = WHOLE[reply.id]
    found = _read(reply, stdin, kind)
    text = found.text or ""
    if kind == "versions" and "\n" not in text.strip():
        return msgspec.structs.replace(found, text=text.replace(",", "\n").replace(" ", "\n"))
    seen = recognise(text) if kind == "script" else None
    return msgspec.structs.replace(found, kind=seen) if seen in LAUNCHES else found


def _read(reply: Reply, stdin: bytes | None, kind: InputKind) -> Input:
    """Read the whole text; unlike a log of the job it is never streamed."""
    if reply.path is not None and reply.path != "-":
        found, _ = read_path(Path(reply.path), kind="note")
    else:
        data = stdin or b"" if reply.path is not None else reply.text.encode(errors="replace")
        found, _ = read_stdin(data, kind="note", name=SOURCE + reply.id)
    return msgspec.structs.replace(found[0], kind=kind)
