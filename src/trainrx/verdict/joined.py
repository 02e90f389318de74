"""What a log, a launch, its memory and its versions say of a job, joined before it is judged."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from trainrx.diagnosis.answer import answer
from trainrx.diagnosis.conclusion import Conclusion
from trainrx.diagnosis.pipeline import conclude
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.given import gather
from trainrx.launch.reply_values import ReplyError
from trainrx.launch.request import Request
from trainrx.model.findings import Finding
from trainrx.model.result import Diagnosis
from trainrx.reason.stage import EngineName
from trainrx.verdict.refusals import ABSENT, met_its_data, names_its_file, with_refusals


class Joined(NamedTuple):
    """A job as far as it is known: what was concluded, and the answer to it."""

    done: Conclusion
    answer: Diagnosis


def joined(
    request: Request,
    loaded: LoadedKnowledge,
    *,
    top: int | None,
    engine: EngineName = "durable",
    near: bool = False,
) -> Joined:
    """Read all that is asked about, once, and join what is known of it.

    Args:
        request: what is asked.
        loaded: the knowledge it names.
        top: how many causes are looked at; all when None.
        engine: durable, or reference.
        near: whether entries in the words of what was seen are named.

    Raises:
        UsageError: an input cannot be used.
        ReplyError: no question has the id of a reply; it names those that are open.
    """
    try:
        given = gather(request, loaded.whole)
    except ReplyError as error:
        raise ReplyError(f"{error} {_open_questions(request, loaded)}") from error
    done = conclude(given, loaded, request.lang, engine)
    found = answer(done, top, near=near)
    found = msgspec.structs.replace(found, findings=_findings(done, request.data))
    return Joined(done, with_refusals(found, done))


def _open_questions(request: Request, loaded: LoadedKnowledge) -> str:
    """Say what may be answered: the questions that are open without any answer."""
    unanswered = msgspec.structs.replace(request, answers=())
    asks = joined(unanswered, loaded, top=None, near=True).answer.asks
    if not asks:
        return "No question is open."
    return f"Open questions: {', '.join(ask.id for ask in asks)}."


def _findings(done: Conclusion, data: str | None) -> tuple[Finding, ...]:
    if not (done.given.scripts or done.given.configs):
        return ()
    # the linter is loaded only where there is something to lint
    from trainrx.linter.given import lint_given

    brief = data is None and met_its_data(done)
    found = lint_given(
        done.given,
        done.versions,
        done.loaded,
        done.lang,
        data="" if brief else data,
        brief=brief,
    )
    # people ask from another machine than that of the job: that a file is not here says nothing
    return tuple(
        item
        for item in found
        if not (brief and item.rule in ABSENT and not names_its_file(item, done))
    )
