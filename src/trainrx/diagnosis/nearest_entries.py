"""Causes whose entries are near in words to what was seen, for answers that leave it open."""

from __future__ import annotations

from trainrx.inputs.stream import exceptions
from trainrx.knowledge.guards import is_of_another
from trainrx.knowledge.store import Knowledge
from trainrx.knowledge.words import read_index
from trainrx.launch.given import Given
from trainrx.model.knowledge import Cause
from trainrx.reason.conditions import Situation
from trainrx.reason.nearest import Near, nearest
from trainrx.reason.score import ruled_out


def kin(given: Given, knowledge: Knowledge, situation: Situation) -> tuple[tuple[Near, Cause], ...]:
    """Give the causes nearest to a note and to the exceptions at the end of logs, best first.

    Those that this job rules out, and checks of another framework, are left out.
    """
    text = "\n".join((*(note.text or "" for note in given.notes), *exceptions(given.logs)))
    if not text.strip():
        return ()
    framework = situation.facts.text("launch.framework") or ""
    found = ((near, knowledge.causes[near.cause]) for near in nearest(text, read_index(knowledge)))
    return tuple(
        (near, cause)
        for near, cause in found
        if not is_of_another(cause, knowledge.guards, framework) and not ruled_out(cause, situation)
    )
