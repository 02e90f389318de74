"""Tell a command of the user about an alert: as JSON on its standard input and in variables.

No text of a log comes near its command line or its environment: what is set there are ids and
numbers of our own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from contextlib import suppress

from trainrx.collect.state import WatchAlert, WatchState

LIMIT = 120.0
"""Seconds such a command may take."""
SHELL = "/bin/sh"


class Notifier:
    """Runs a command for each alert, while the job is followed on.

    Args:
        command: a line for the shell.
    """

    def __init__(self, command: str) -> None:
        self._command = command
        self._running: list[tuple[float, subprocess.Popen[bytes]]] = []

    def tell(self, alert: WatchAlert, state: WatchState, text: str) -> str:
        """Start the command; gives why it could not be, else "".

        Args:
            alert: what it is about.
            state: how the job stands.
            text: both as JSON, masked.
        """
        with tempfile.TemporaryFile() as given:
            given.write(text.encode("utf-8", "replace"))
            given.seek(0)
            try:
                process = subprocess.Popen(
                    [SHELL, "-c", self._command],
                    stdin=given,
                    stdout=subprocess.DEVNULL,
                    env={**os.environ, **variables(alert, state)},
                    start_new_session=True,
                )
            except OSError as error:
                return error.strerror or str(error)
        self._running.append((time.monotonic(), process))
        return ""

    def ended(self) -> list[int]:
        """Give the status of each command that has failed since; what takes too long is ended."""
        failed: list[int] = []
        for began, process in list(self._running):
            status = process.poll()
            if status is None and time.monotonic() - began > LIMIT:
                _kill(process)
                status = process.wait()
            if status is not None:
                self._running.remove((began, process))
                failed += [status] if status else []
        return failed

    def wait(self) -> list[int]:
        """Wait for the commands that still run; give the status of each that failed."""
        for began, process in self._running:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, LIMIT - (time.monotonic() - began)))
        return self.ended()


def variables(alert: WatchAlert, state: WatchState) -> dict[str, str]:
    """Give what a command finds in its environment; "" for what is not known."""
    cause = state.cause
    known = {
        "ALERT": alert.kind,
        "FAMILY": alert.family,
        "OUTCOME": state.outcome,
        "CAUSE": "" if cause is None else cause.id,
        "FRAMEWORK": state.framework or "",
        "STEP": "" if state.step is None else str(state.step),
    }
    return {f"TRAINRX_{name}": value for name, value in known.items()}


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
