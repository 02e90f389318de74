"""One job followed from look to look: files read, the state told, its cause found, alerts given."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec

from trainrx.collect.cause import CauseFinder
from trainrx.collect.follow import Follower
from trainrx.collect.stall import StallRule
from trainrx.collect.state import AlertKind, WatchAlert, WatchState
from trainrx.collect.watch import Watch, WatchSettings
from trainrx.evidence.detector import detector_of
from trainrx.inputs.hardware import read_gpu
from trainrx.inspect.inspection import tool
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.cards import card_facts
from trainrx.launch.request import Request
from trainrx.model.errors import UsageError
from trainrx.model.facts import Facts, Origin
from trainrx.model.hardware import Gpu


class Look(NamedTuple):
    """What one look at the files gave: the state, alerts nobody was told of yet, bytes read."""

    state: WatchState
    alerts: tuple[WatchAlert, ...]
    grown: int


class AlertBook:
    """Which alerts were given: each once, until what it is about is over."""

    def __init__(self) -> None:
        self._given: set[AlertKind] = set()

    def new(self, alerts: Iterable[WatchAlert], *, hold: bool = False) -> tuple[WatchAlert, ...]:
        """Give the alerts that were not given before; `hold` keeps new ones for later."""
        now = {alert.kind: alert for alert in alerts}
        self._given &= now.keys()
        found = () if hold else tuple(one for kind, one in now.items() if kind not in self._given)
        self._given |= {alert.kind for alert in found}
        return found


class WatchSession:
    """A job that is followed.

    Args:
        request: what is asked; its paths and logs are followed.
        rule: how long a silence may last.
        now: when it is begun, seconds since the epoch.

    Raises:
        UsageError: the card is not known.
    """

    def __init__(self, request: Request, rule: StallRule, now: float) -> None:
        loaded = LoadedKnowledge(request.kb, request.rules)
        settings = WatchSettings(
            tool=tool(loaded.whole),
            lang=request.lang,
            capacity_gib=capacity_of(request, loaded.whole.gpus),
            rule=rule,
        )
        detector = loaded.made(detector_of)
        self._follower = Follower([Path(name) for name in (*request.paths, *request.logs)])
        self._watch = Watch(detector, settings, now)
        self._causes = CauseFinder(request, loaded)
        self._alerts = AlertBook()

    def look(self, now: float, *, patient: bool = True) -> Look:
        """Read what is new and say how the job stands; the cause too where that is asked for.

        Args:
            now: seconds since the epoch.
            patient: a failure whose lines still come is not judged yet.
        """
        grown = self._watch.take(self._follower.poll(now))
        state = msgspec.structs.replace(self._watch.state(now), unread=tuple(self._follower.unread))
        state = self._causes.look(state, grown=grown > 0, patient=patient)
        alerts = self._alerts.new(state.alerts, hold=self._causes.pending)
        return Look(state, alerts, grown)

    def close(self) -> None:
        """Let go of the files."""
        self._follower.close()


def capacity_of(request: Request, gpus: tuple[Gpu, ...]) -> float | None:
    """Give the memory of the card that is named, in GiB.

    Raises:
        UsageError: nothing is known of it.
    """
    if request.gpu is None:
        return None
    reading = read_gpu(request.gpu, gpus)
    found = Facts(card_facts(reading, Origin(source="--gpu"))).number("hardware.gpu_gib")
    if found is None:
        raise UsageError(
            f"--gpu {request.gpu}: the memory of this card is not known; "
            "give its size, e.g. `--gpu A100-80G` or `--gpu 24GiB`"
        )
    return found
