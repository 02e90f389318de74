"""Run a command as if nobody stood between it and the one that started us.

It keeps its process group, its terminal and its standard input. Signals that only we were sent are
sent on to it, when it stops we stop, and how it ended is how we end.
"""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from shutil import which

import msgspec

from trainrx.collect.streams import OutputFile, Stream, open_streams, passed_on

NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""Exit statuses of a shell for a command it could not start."""
_OURS = {
    signal.SIGKILL,
    signal.SIGSTOP,
    signal.SIGCHLD,
    signal.SIGUSR1,
    *(signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT, signal.SIGTRAP),
    *(signal.SIGSYS, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGXCPU),
    *(signal.SIGTTIN, signal.SIGTTOU),
}
"""Signals that mean this process, and not the job it stands for."""
PASSED = frozenset(signal.valid_signals() - _OURS)
WAITED = PASSED | {signal.SIGCHLD, signal.SIGUSR1}
STOPS = (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
ENDINGS = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT})
FROM_KERNEL = 128
"""`si_code` of what a terminal sends: its whole group gets it."""
GRACE = 0.1
"""Seconds in which the others of a group are sent what we are sent."""
TICK = 5.0
LONGEST_ANSWER = 120.0


class JobStarted(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A job was started: its process, copies of its outputs, files it writes them to."""

    pid: int
    copies: tuple[str, ...] = ()
    files: tuple[OutputFile, ...] = ()


class CollectAsked(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Somebody wants to know how the job stands."""


class JobEnded(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A job ended: its wait status, and whether it was sent a signal that asks for the end."""

    status: int
    asked: bool = False

    @property
    def failed(self) -> bool:
        """Tell whether it failed of itself."""
        return self.status != 0 and not self.asked


JobEvent = JobStarted | CollectAsked | JobEnded
"""What the observer is told, in lines of JSON."""


class CommandError(Exception):
    """A command that cannot be started; `status` is that of a shell."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Sentinel:
    """A process that does nothing with the signals its group is sent but keep them pending.

    By it we know whether a signal was sent to us alone, or to the group, or to all of a job step,
    and the job has it already. It ends with us: nobody else holds its standard input.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._start()

    @property
    def pid(self) -> int:
        """Give its number."""
        return 0 if self._process is None else self._process.pid

    def _start(self) -> None:
        with suppress(OSError):
            self._process = subprocess.Popen(
                [which("cat") or "/bin/cat"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

    def was_sent(self, number: int) -> bool:
        """Tell whether it was sent a signal, too."""
        until = time.monotonic() + GRACE
        while not (found := self._is_pending(number)) and time.monotonic() < until:
            time.sleep(GRACE / 20)
        if found:
            self.close()
            self._start()
        return found

    def _is_pending(self, number: int) -> bool:
        if self._process is None:
            return False
        with suppress(OSError, ValueError):
            for line in Path(f"/proc/{self._process.pid}/status").read_text().splitlines():
                if line.startswith("ShdPnd:"):
                    return bool(int(line.split()[1], 16) >> (number - 1) & 1)
        return False

    def close(self) -> None:
        """End it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._process = None


class Supervisor:
    """One job, from its start to its end.

    Args:
        folder: where copies of its outputs go.
        observe: what looks at the job, in a process of its own; it is given the descriptor on which
            it is told of the job.
    """

    def __init__(self, folder: Path, observe: Callable[[int], None] | None) -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, WAITED)
        self._folder = folder
        self._observer, self._told = self._start_observer(observe)
        self._streams: dict[int, Stream] = {}
        self._sentinel: Sentinel | None = None
        self._asked = False

    def _start_observer(self, observe: Callable[[int], None] | None) -> tuple[int, int]:
        """Fork what looks at the job: whatever happens to it happens to it alone."""
        reading, writing = os.pipe()
        pid = 0
        if observe is not None:
            with suppress(OSError):
                pid = os.fork()
                if pid == 0:
                    os.close(writing)
                    self._observe(observe, reading)
        os.close(reading)
        return pid, writing

    def _observe(self, observe: Callable[[int], None], reading: int) -> None:
        try:
            os.setsid()
            signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)
            observe(reading)
        finally:
            os._exit(0)

    def run(self, words: Sequence[str], env: Mapping[str, str]) -> JobEnded:
        """Run a command to its end.

        Raises:
            CommandError: it cannot be started.
        """
        self._streams, files = open_streams(self._folder)
        streams = list(dict.fromkeys(self._streams.values()))
        self._sentinel = Sentinel()
        try:
            pid = self._spawn(words, env)
            for stream in streams:
                stream.started()
            copies = tuple(str(stream.path) for stream in streams)
            self._tell(JobStarted(pid=pid, copies=copies, files=files))
            ended = JobEnded(status=self._wait(pid), asked=self._asked)
        finally:
            self._sentinel.close()
        self._finish(streams, ended)
        return ended

    def _spawn(self, words: Sequence[str], env: Mapping[str, str]) -> int:
        actions = [(os.POSIX_SPAWN_DUP2, one.end, at) for at, one in self._streams.items()]
        # Python ignores these; what was ignored before it is not known any more
        defaults = [signal.SIGPIPE, signal.SIGXFSZ]

        def spawn(argv: list[str]) -> int:
            return os.posix_spawnp(
                argv[0],
                argv,
                env,
                file_actions=actions,
                setsigmask=self._mask,
                setsigdef=defaults,
            )

        try:
            return spawn([*words])
        except FileNotFoundError as error:
            raise CommandError(f"{words[0]}: command not found", NOT_FOUND) from error
        except OSError as error:
            if error.errno == errno.ENOEXEC:  # a script that does not name its shell
                return spawn(["/bin/sh", *words])
            raise CommandError(f"{words[0]}: {error.strerror}", NOT_EXECUTABLE) from error

    def _wait(self, pid: int) -> int:
        """Wait for the end of the job; meanwhile pass signals on."""
        first = os.getpid() == 1
        while True:
            if first:
                self._reap_orphans(pid)
            found, status = os.waitpid(pid, os.WNOHANG | os.WUNTRACED)
            if found and os.WIFSTOPPED(status):
                self._stop(os.WSTOPSIG(status))
            elif found:
                return status
            seen = signal.sigtimedwait(WAITED, TICK)
            for stream in self._streams.values():
                stream.keep_up()
            if seen is not None:
                self._take(pid, seen)

    def _reap_orphans(self, pid: int) -> None:
        """Let go of ended processes that only the first process of a container can wait for."""
        own = {pid, self._observer, self._sentinel.pid if self._sentinel else 0}
        own |= {stream.pid for stream in self._streams.values()}
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        while (found := os.waitid(os.P_ALL, 0, options)) and found.si_pid not in own:
            os.waitpid(found.si_pid, 0)

    def _take(self, pid: int, seen: signal.struct_siginfo) -> None:
        number = seen.si_signo
        if number == signal.SIGCHLD:
            return
        if number == signal.SIGUSR1:
            self._tell(CollectAsked())
            return
        self._asked = self._asked or number in ENDINGS
        if number == signal.SIGWINCH:
            for stream in self._streams.values():
                stream.resize()
        if self._is_shared(seen):
            return
        with suppress(OSError):
            os.kill(pid, number)

    def _is_shared(self, seen: signal.struct_siginfo) -> bool:
        """Tell whether the job was sent the signal as well."""
        if seen.si_signo != signal.SIGWINCH and self._sentinel is not None:
            shared = self._sentinel.was_sent(seen.si_signo)
        else:
            shared = False
        return shared or seen.si_code == FROM_KERNEL

    def _stop(self, number: int) -> None:
        """Stop as the job has stopped: a shell that waits for us takes the terminal back."""
        if number not in STOPS:
            return
        os.kill(os.getpid(), number)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        signal.pthread_sigmask(signal.SIG_BLOCK, {number} & WAITED)

    def _tell(self, event: JobEvent) -> None:
        with suppress(OSError):
            os.write(self._told, msgspec.json.encode(event) + b"\n")

    def _finish(self, streams: Sequence[Stream], ended: JobEnded) -> None:
        """Wait until all is printed and answered, unless somebody wants us to end."""
        for _ in passed_on(streams, TICK / 100):
            if self._is_told_to_end():
                break
        self._tell(ended)
        until = time.monotonic() + LONGEST_ANSWER
        while self._observer and not os.waitpid(self._observer, os.WNOHANG)[0]:
            if self._is_told_to_end(TICK / 50) or time.monotonic() > until:
                os.kill(self._observer, signal.SIGKILL)
                os.waitpid(self._observer, 0)
                return

    @staticmethod
    def _is_told_to_end(seconds: float = 0.0) -> bool:
        seen = signal.sigtimedwait(ENDINGS | {signal.SIGCHLD}, seconds)
        return seen is not None and seen.si_signo in ENDINGS


def end_as(status: int) -> int:
    """End as a job ended: by the same signal, or with the exit status that is given back."""
    if not os.WIFSIGNALED(status):
        return os.waitstatus_to_exitcode(status)
    number = os.WTERMSIG(status)
    # the job has left its core, where it leaves one; 1 byte keeps cores from files and from pipes
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (1, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    with suppress(OSError):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    return 128 + number  # the first process of a container does not die of signals
