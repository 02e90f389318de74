"""`fix_launch()`: the changed launch, proved before it is shown."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from trainrx.diagnosis.answer import LOOKED_AT
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.given import lengths_of
from trainrx.launch.request import Request
from trainrx.model.errors import UsageError
from trainrx.model.fixing import FixAnswer
from trainrx.prove.fixing import trial_of, ways_out
from trainrx.verdict.joined import joined


def fix_launch(
    request: Request, loaded: LoadedKnowledge, *, keep: Sequence[str] = (), plan: int = 1
) -> FixAnswer:
    """Say what to change in the files of a launch, as edits that passed their checks.

    Nothing is written: `trainrx.fix.patch.write_files` does that with `Proposal.patched`.

    Args:
        request: what is asked.
        loaded: the knowledge it names.
        keep: parameters that must stay as they are, by the framework's name or the canonical one.
        plan: which proposal is chosen, from 1.

    Raises:
        UsageError: an input cannot be used, or there is no proposal of that number.
    """
    known = joined(request, loaded, top=LOOKED_AT)
    lengths, unread = lengths_of(request.data)
    trial = trial_of(known.done, known.answer.findings, lengths)
    found = ways_out(known.answer, known.done, trial, keep)
    return _chosen(msgspec.structs.replace(found, unread=(*known.answer.unread, *unread)), plan)


def _chosen(found: FixAnswer, number: int) -> FixAnswer:
    """Choose a proposal by its number.

    Raises:
        UsageError: there is none of that number.
    """
    count = len(found.proposals)
    if count and not 1 <= number <= count:
        raise UsageError(
            f"--plan {number}: there are {count} proposals, expected a number from 1 to {count}"
        )
    return msgspec.structs.replace(found, chosen=number if count else 0)
