"""The history of jobs: what was answered, what people say came of it, what is like what.

One SQLite file in WAL mode: several processes of one machine may write it at once, and one that is
killed leaves it whole. It belongs on a local disk: WAL does not work over a network file system.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import msgspec

from trainrx.fleet.fingerprint import failure_of, fingerprints
from trainrx.fleet.history.schema import migrate
from trainrx.fleet.record import AnswerSummary, JobAnswer
from trainrx.model.errors import UsageError
from trainrx.model.result import Recurrence, SolvedBy
from trainrx.render.redact import sound

if TYPE_CHECKING:
    from typing_extensions import Self

PATIENCE = 30.0
"""Seconds a writer waits for another."""
ADD_ANSWER = """
INSERT INTO answers (job, inputs_digest, knowledge_serial, outcome, verdict, cause, framework,
  fingerprint, launch_digest, happened, recorded, record)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (job, inputs_digest, knowledge_serial) DO UPDATE SET outcome = excluded.outcome,
  verdict = excluded.verdict, cause = excluded.cause, framework = excluded.framework,
  fingerprint = excluded.fingerprint, launch_digest = excluded.launch_digest,
  happened = excluded.happened, recorded = excluded.recorded, record = excluded.record
"""
ADD_JOB = """
INSERT INTO jobs (key, name, source, user, answer)
SELECT job, ?, ?, ?, id FROM answers
WHERE job = ? AND inputs_digest = ? AND knowledge_serial = ?
ON CONFLICT (key) DO UPDATE SET name = excluded.name, source = excluded.source,
  user = excluded.user, answer = excluded.answer
"""

NEWEST = "SELECT record, fingerprint FROM newest WHERE happened >= ? ORDER BY happened, key"
SHARED = (
    *("causes", "quoted", "site", "changes", "nodes"),
    *("user", "image", "framework", "family", "gpu", "partition", "state", "launch_digest"),
)


class ToldOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody says came of a job: whether a change worked; `told`: seconds since 1970."""

    job: str
    param: str
    value: str
    worked: bool
    told: float


class Store:
    """A history that is open.

    Args:
        database: connection to the file.
        clock: gives the seconds since the epoch.
    """

    def __init__(self, database: sqlite3.Connection, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    @classmethod
    def open(cls, path: Path, *, clock: Callable[[], float] = time.time) -> Store:
        """Open a history, or begin one.

        Raises:
            UsageError: the file cannot be opened, is none, or was written by a newer program.
        """
        try:
            # only who writes it may read it: it holds the launches of people
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            database = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"{path}: the history cannot be opened: {error}") from error
        try:
            migrate(database, str(path))
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
        except sqlite3.Error as error:
            database.close()
            raise UsageError(f"{path}: the history cannot be opened: {error}") from error
        except UsageError:
            database.close()
            raise
        return cls(database, clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def has(self, job_key: str, inputs_digest: str, knowledge_serial: str) -> bool:
        """Tell whether a job was answered from these inputs by this knowledge."""
        found = self._database.execute(
            "SELECT 1 FROM answers WHERE job = ? AND inputs_digest = ? AND knowledge_serial = ?",
            (_sound(job_key), inputs_digest, knowledge_serial),
        )
        return found.fetchone() is not None

    def add(self, answers: Iterable[JobAnswer]) -> None:
        """Remember answers, all or none of them; the same one again is no second one."""
        with self._writing():
            for answer in answers:
                self._add(answer)

    def confirm(
        self, job: str, *, worked: bool, by: tuple[tuple[str, str], ...] = ()
    ) -> tuple[tuple[str, str], ...]:
        """Remember what came of a job; gives the changes it is said of.

        Args:
            job: key, name, or an unmistakable part of a key.
            worked: whether it went well afterwards.
            by: parameters and their values; without them those of the answer's first fix.

        Raises:
            UsageError: no job is called so, or several are.
        """
        with self._writing():
            key = self._key(job)
            answer, group = self._newest(key)
            changes = by or answer.changes or (("", ""),)
            self._database.executemany(
                "INSERT OR REPLACE INTO outcomes (job, param, value, worked, fingerprint, told) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                [(key, param, to, worked, group, self._clock()) for param, to in changes],
            )
        return changes

    def seen(self, fingerprint: str, *, besides: str = "") -> Recurrence | None:
        """Say how often a failure was seen, and what helped; None where it never was.

        Args:
            fingerprint: of the failure.
            besides: key of a job that is not counted: the one that is asked about.
        """
        if not fingerprint:
            return None
        count, first, last = self._database.execute(
            "SELECT count(*), min(happened), max(happened) FROM newest "
            "WHERE fingerprint = ? AND key <> ?",
            (fingerprint, besides),
        ).fetchone()
        if not count:
            return None
        told = self._database.execute(
            "SELECT param, value, worked, count(*) FROM outcomes WHERE fingerprint = ? "
            "AND job <> ? GROUP BY param, value, worked ORDER BY 4 DESC, param, value",
            (fingerprint, besides),
        )
        return Recurrence(
            fingerprint=fingerprint,
            count=count,
            first=first,
            last=last,
            now=self._clock(),
            solved=solved_by(told.fetchall()),
        )

    def group_of(self, answer: JobAnswer) -> str:
        """Name the group a failure belongs to: one there is already, in whatever way it was named.

        "" where the job did not fail.
        """
        failure = failure_of(answer)
        if failure is None:
            return ""
        names = fingerprints(failure)
        query = "SELECT 1 FROM answers WHERE fingerprint = ?"
        known = (name for name in names if self._database.execute(query, (name,)).fetchone())
        return next(known, names[-1])

    def answers(self, since: float | None = None) -> Iterator[JobAnswer]:
        """Give the newest answer to each job, in order of time."""
        for record, group in self._database.execute(NEWEST, (_from(since),)):
            yield _answer(record, group)

    def summaries(self, since: float | None = None) -> Iterator[AnswerSummary]:
        """Give of the newest answer to each job what is compared across jobs, in order of time.

        Values that many jobs have in common are kept once.
        """
        decoder = msgspec.json.Decoder(AnswerSummary)
        shared: dict[object, object] = {}
        for record, group in self._database.execute(NEWEST, (_from(since),)):
            found = decoder.decode(record)
            same = {
                name: shared.setdefault(value, value)
                for name in SHARED
                if (value := getattr(found, name))
            }
            versions = tuple(found.versions.items())
            same["versions"] = shared.setdefault(versions, found.versions)
            yield msgspec.structs.replace(found, fingerprint=sys.intern(group), **same)

    def newest(self, keys: Iterable[str]) -> Iterator[JobAnswer]:
        """Give the newest answer to each of some jobs that are known."""
        for key in keys:
            yield self._newest(_sound(key))[0]

    def outcomes(self) -> Iterator[ToldOutcome]:
        """Give what people say came of jobs, in order of time."""
        found = self._database.execute(
            "SELECT job, param, value, worked, told FROM outcomes ORDER BY told, job, param"
        )
        for job, param, value, worked, told in found:
            yield ToldOutcome(job=job, param=param, value=value, worked=bool(worked), told=told)

    def _add(self, answer: JobAnswer) -> None:
        try:
            record = msgspec.json.encode(answer).decode()
        except UnicodeEncodeError:  # a file name that is no UTF-8
            answer = sound(answer)
            record = msgspec.json.encode(answer).decode()
        named = (answer.key, answer.inputs_digest, answer.knowledge_serial)
        now = self._clock()
        happened = next((at for at in (answer.ended, answer.started) if at is not None), now)
        said = (
            answer.outcome,
            answer.verdict,
            answer.causes[0][0] if answer.causes else "",
            answer.framework,
            self.group_of(answer),
            answer.launch_digest,
        )
        self._database.execute(ADD_ANSWER, (*named, *said, happened, now, record))
        job = (answer.name, answer.source, answer.user)
        self._database.execute(ADD_JOB, (*job, *named))

    def _key(self, job: str) -> str:
        """Find the job somebody means."""
        asked = (
            "SELECT key FROM jobs WHERE key = ?",
            "SELECT key FROM jobs WHERE name = ? ORDER BY key LIMIT 4",
            "SELECT key FROM jobs WHERE instr(key, ?) ORDER BY key LIMIT 4",
        )
        for query in asked:
            found = [key for (key,) in self._database.execute(query, (job,))]
            if len(found) == 1:
                return str(found[0])
            if found:
                some = ", ".join(found[:3]) + (", ..." if found[3:] else "")
                raise UsageError(f"{job}: several jobs are called so: {some}")
        raise UsageError(f"{job}: the history has no such job")

    def _newest(self, key: str) -> tuple[JobAnswer, str]:
        record, group = self._database.execute(
            "SELECT record, fingerprint FROM newest WHERE key = ?", (key,)
        ).fetchone()
        return _answer(record, group), group

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Write in one piece, after whoever else writes.

        Raises:
            UsageError: the file cannot be written.
        """
        try:
            self._database.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise UsageError(f"the history cannot be written: {error}") from error
        try:
            yield
            self._database.execute("COMMIT")
        except sqlite3.Error as error:
            self._undo()
            raise UsageError(f"the history cannot be written: {error}") from error
        except BaseException:
            self._undo()
            raise

    def _undo(self) -> None:
        if self._database.in_transaction:
            self._database.execute("ROLLBACK")


def solved_by(told: Iterable[tuple[str, str, int, int]]) -> tuple[SolvedBy, ...]:
    """Sum up by parameter how often it worked and did not, with the value that did most often.

    Args:
        told: parameter, value, whether it worked, how often that is said; the most often first.
    """
    found: dict[str, SolvedBy] = {}
    for param, value, worked, count in told:
        sofar = found.get(param, SolvedBy(param=param))
        found[param] = SolvedBy(
            param=param,
            value=sofar.value or (value if worked else ""),
            worked=sofar.worked + (count if worked else 0),
            failed=sofar.failed + (0 if worked else count),
        )
    return tuple(sorted(found.values(), key=lambda one: (-one.worked, one.failed, one.param)))


def _from(since: float | None) -> float:
    return float("-inf") if since is None else since


def _sound(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _answer(record: str, group: str) -> JobAnswer:
    answer = msgspec.json.decode(record, type=JobAnswer)
    return msgspec.structs.replace(answer, fingerprint=group)
