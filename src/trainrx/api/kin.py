"""Causes whose entries are near in words to what was seen, for answers that leave it open."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainrx.api.inputs import Given
from trainrx.api.reason import Reasoned, is_of_another
from trainrx.kb.store import Knowledge
from trainrx.kb.words import read_index
from trainrx.model.knowledge import Cause
from trainrx.rank.nearest import Near, nearest
from trainrx.rank.score import ruled_out
from trainrx.read.encoding import decode_text
from trainrx.read.stream import tail

TOLD = 8
"""Lines of a log that are taken for what it says of the failure: its last exceptions."""
LONGEST = 2000
"""Characters of such a line that are read."""
_PATH = re.compile(r"[^\s'\"()]*/[^\s'\"()]*/[^\s'\"()]*")
"""Where something is installed says nothing of why it failed."""
_EXCEPTION = re.compile(r"(?:Error|Exception)\b")


def kin(
    given: Given, knowledge: Knowledge, framework: str, job: Reasoned
) -> tuple[tuple[Near, Cause], ...]:
    """Give the causes nearest to a note and to the exceptions at the end of logs, best first.

    Those that this job rules out, and checks of another framework, are left out.
    """
    text = "\n".join((*(note.text or "" for note in given.notes), *_exceptions(given)))
    if not text.strip():
        return ()
    found = [(near, knowledge.causes[near.cause]) for near in nearest(text, read_index(knowledge))]
    found = [
        (near, cause) for near, cause in found if not is_of_another(cause, knowledge, framework)
    ]
    truths = job.possible([cause for _, cause in found])
    return tuple((near, cause) for near, cause in found if not ruled_out(cause, truths))


def _exceptions(given: Given) -> Iterator[str]:
    for log in given.logs:
        lines = decode_text(tail(log)).splitlines()
        told = [line[:LONGEST] for line in lines if _EXCEPTION.search(line)][-TOLD:]
        yield from (_PATH.sub(" ", line) for line in told)
