"""`fix_launch()`: the changed launch, proved before it is shown."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from trainrx.data.job import data_job
from trainrx.diagnosis.answer import LOOKED_AT
from trainrx.diagnosis.conclusion import Conclusion
from trainrx.estimation.data import measured
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.given import lengths_of
from trainrx.launch.request import Request
from trainrx.model.errors import UsageError
from trainrx.model.findings import Unread
from trainrx.model.fixing import FixAnswer
from trainrx.model.hardware import TokenStats
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
    if request.data == "":
        lengths, unread = _of_the_launch(known.done)
    trial = trial_of(known.done, known.answer.findings, lengths)
    found = ways_out(known.answer, known.done, trial, keep)
    return _chosen(msgspec.structs.replace(found, unread=(*known.answer.unread, *unread)), plan)


def _of_the_launch(done: Conclusion) -> tuple[TokenStats | None, tuple[Unread, ...]]:
    """Measure the data the launch of a conclusion names."""
    if done.launch is None or done.resolved is None:
        return None, ()
    folder = done.given.beside.get(done.launch.origin.source)
    job = data_job(done.launch, done.resolved, done.facts, folder)
    return measured(job, done.loaded.lint, done.lang)


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
