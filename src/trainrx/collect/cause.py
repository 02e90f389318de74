"""Why a job that is followed failed or stands still: the whole job is diagnosed, but rarely."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from trainrx.collect.state import CauseSeen, WatchState
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.request import Request
from trainrx.model.errors import UsageError
from trainrx.model.result import CauseOut, Diagnosis
from trainrx.verdict.run import diagnose

SETTLED = 20.0
"""Seconds after which a job is diagnosed although lines still come."""
RARELY = 60.0
"""Seconds between two diagnoses."""
ASKED_OF = ("failed", "stalled")


class CauseFinder:
    """Diagnoses a job when it comes to stand badly, and again when more is seen.

    Args:
        request: what is asked; files that are not there yet are left out.
        loaded: the knowledge it names.
    """

    def __init__(self, request: Request, loaded: LoadedKnowledge) -> None:
        self._request, self._loaded = request, loaded
        self._answer: Diagnosis | None = None
        self._of: tuple[str, ...] = ()
        self._since = 0.0
        self._last: float | None = None
        self._looked_for: tuple[str, ...] = ()

    @property
    def pending(self) -> bool:
        """Tell whether what is seen now was not diagnosed yet, and will be soon."""
        return self._of != self._looked_for and self._answer is None

    def look(self, state: WatchState, *, grown: bool, patient: bool = True) -> WatchState:
        """Add the cause, where the state asks for one.

        Args:
            state: how the job stands.
            grown: whether lines still come: those behind the first of a failure tell more.
            patient: wait until they end.
        """
        if state.outcome not in ASKED_OF:
            self._of = self._looked_for = ()
            self._answer = None
            return state
        seen = (state.outcome, *(item.id for item in state.symptoms))
        if seen != self._of:
            self._of, self._since = seen, state.at
        settled = not grown or not patient or state.at - self._since >= SETTLED
        rested = self._last is None or state.at - self._last >= RARELY
        if self._of != self._looked_for and settled and (rested or self._answer is None):
            self._looked_for, self._last = self._of, state.at
            self._answer = diagnosed(self._request, self._loaded)
        return state if self._answer is None else _with(state, self._answer)


def diagnosed(request: Request, loaded: LoadedKnowledge) -> Diagnosis | None:
    """Diagnose what is there of a job; None where nothing of it can be used."""
    try:
        return diagnose(
            msgspec.structs.replace(
                request, paths=_there(request.paths), logs=_there(request.logs)
            ),
            loaded,
            top=1,
        )
    except UsageError:
        return None


def _there(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in names if Path(name).exists())


def _with(state: WatchState, answer: Diagnosis) -> WatchState:
    cause = next((_cause(one) for one in answer.causes), None)
    family = None if cause is None else cause.family
    alerts = tuple(
        msgspec.structs.replace(alert, family=family)
        if family is not None and alert.kind in ASKED_OF
        else alert
        for alert in state.alerts
    )
    return msgspec.structs.replace(
        state, cause=cause, alerts=alerts, framework=answer.job.framework or state.framework
    )


def _cause(cause: CauseOut) -> CauseSeen:
    fix = cause.fixes[0] if cause.fixes else None
    changes = () if fix is None else (change.spelled for change in fix.changes if change.spelled)
    spelled = " ".join(changes)
    return CauseSeen(
        id=cause.id,
        title=cause.title,
        family=cause.family,
        verdict=cause.verdict,
        probability=cause.probability,
        fix=spelled or ("" if fix is None else fix.title),
    )
