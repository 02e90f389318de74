"""The loop of `diagnose watch`: look, show, tell; a panel on a terminal, else lines on a change."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from trainrx.cli._output import complain, show, write
from trainrx.collect.notify import Notifier
from trainrx.collect.session import Look, WatchSession
from trainrx.collect.stall import StallRule
from trainrx.collect.state import WatchAlert, WatchState
from trainrx.launch.request import Request
from trainrx.render import render
from trainrx.render.document import View
from trainrx.render.prometheus import Port, Publisher, TextFile, check_client
from trainrx.render.redact import masked
from trainrx.render.watch import line
from trainrx.render.watch_words import ALERT, STOPPED
from trainrx.sanitizer import media

if TYPE_CHECKING:
    from rich.panel import Panel

OFTEN = 60.0
"""Seconds after which a line is written although nothing but the step has changed."""
NARROWEST, FRAME = 40, 4


class Outlets(NamedTuple):
    """Where the state goes besides the screen."""

    publishers: tuple[Publisher, ...] = ()
    notifier: Notifier | None = None


def outlets(file: Path | None, port: int | None, command: str | None) -> Outlets:
    """Open what was asked for.

    Raises:
        UsageError: a library is missing, or a file or a port cannot be had.
    """
    if file is not None or port is not None:
        check_client()
    publishers: list[Publisher] = [] if file is None else [TextFile(file)]
    publishers += [] if port is None else [Port(port)]
    return Outlets(tuple(publishers), None if command is None else Notifier(command))


class WatchLoop:
    """Follows one job.

    Args:
        request: what is asked.
        stall: seconds of silence that are a stall; None: as usual.
        out: where the state goes besides the screen.
        seen: how it is shown.
    """

    def __init__(self, request: Request, stall: float | None, out: Outlets, seen: View) -> None:
        self._session = WatchSession(request, rule_of(stall), time.time())
        self._out = out
        self._seen = seen

    def once(self) -> WatchState:
        """Give the state as it is now, told to whom it is to be told."""
        look = self._look(patient=False)
        if self._out.notifier is not None:
            self._complain(self._out.notifier.wait())
        self._session.close()
        return look.state

    def follow(self, interval: float) -> int:
        """Follow the job until somebody interrupts; give the exit status."""
        shown = self._on_screen if self._seen.terminal else self._in_lines
        try:
            with suppress(KeyboardInterrupt), interruption() as stopped:
                shown(lambda: stopped(interval))
        finally:
            state = self._session.look(time.time(), patient=False).state
            self._session.close()
        status = show(state, "text", self._seen)
        write(f"{self._seen.say(STOPPED)}\n")
        return status

    def _look(self, *, patient: bool = True) -> Look:
        look = self._session.look(time.time(), patient=patient)
        for publisher in self._out.publishers:
            publisher.publish(look.state)
        notifier = self._out.notifier
        if notifier is not None:
            for alert in look.alerts:
                problem = notifier.tell(alert, look.state, self._notice(alert, look.state))
                if problem:
                    complain(f"--on-alert: {problem}", self._seen.lang)
            self._complain(notifier.ended())
        return look

    def _notice(self, alert: WatchAlert, state: WatchState) -> str:
        """Write an alert and the state as JSON, masked."""
        state = masked(state, self._seen.redaction)
        return media.json(msgspec.json.encode({"alert": alert, "state": state}).decode())

    def _complain(self, statuses: Sequence[int]) -> None:
        for status in statuses:
            complain(f"--on-alert: the command ended with status {status}", self._seen.lang)

    def _on_screen(self, stopped: Callable[[], bool]) -> None:
        """Draw a panel, over and over at the same place."""
        from rich.console import Console
        from rich.live import Live

        console = Console(no_color=not self._seen.colour, highlight=False)
        with Live(console=console, auto_refresh=False, transient=True) as live:
            while True:
                look = self._look()
                live.update(self._panel(look.state, console.width), refresh=True)
                if stopped():
                    return

    def _panel(self, state: WatchState, width: int) -> Panel:
        from rich.panel import Panel
        from rich.text import Text

        inner = max(NARROWEST, width - FRAME)
        page = render(state, "text", self._seen._replace(width=inner))
        clock = datetime.fromtimestamp(state.at).astimezone().strftime("%H:%M:%S")
        return Panel(Text.from_ansi(page.rstrip("\n")), title="trainrx", subtitle=clock)

    def _in_lines(self, stopped: Callable[[], bool]) -> None:
        """Write a line when something changes, and one a minute while steps are made."""
        last: WatchState | None = None
        while True:
            look = self._look()
            if last is None or is_news(last, look.state):
                last = look.state
                write(f"{line(masked(last, self._seen.redaction), self._seen)}\n")
            for alert in look.alerts:
                write(f"{self._seen.say(ALERT[alert.kind])}\n")
            if stopped():
                return


@contextmanager
def interruption() -> Iterator[Callable[[float], bool]]:
    """Give what waits some seconds and tells whether somebody interrupted.

    An interruption that is raised in the middle of a look may be lost: the engine that searches the
    logs calls back from C. Whoever interrupts again is obeyed at once. A pipe and not an event: the
    lock of an event may be held by the very thread that the signal stops.
    """
    reading, writing = os.pipe()

    def stop(_number: int, _frame: object) -> None:
        os.write(writing, b"x")
        signal.signal(signal.SIGINT, before)

    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, stop)
    try:
        yield lambda seconds: bool(select.select([reading], [], [], seconds)[0])
    finally:
        signal.signal(signal.SIGINT, before)
        os.close(reading)
        os.close(writing)


def rule_of(stall: float | None) -> StallRule:
    """Give the rule for the seconds that are asked for, to the letter."""
    if stall is None:
        return StallRule()
    return StallRule(least=stall, starting=stall, factor=0.0, overcome=0.0)


def is_news(last: WatchState, now: WatchState) -> bool:
    """Tell whether a line is worth writing."""
    due = last.step != now.step and now.at - last.at >= OFTEN
    return due or _kept(last) != _kept(now)


def _kept(state: WatchState) -> tuple[object, ...]:
    """Give what of a state makes news when it changes."""
    symptoms = tuple(one.id for one in state.symptoms)
    alerts = tuple(one.kind for one in state.alerts)
    cause = None if state.cause is None else state.cause.id
    return state.outcome, symptoms, alerts, cause, state.stragglers
