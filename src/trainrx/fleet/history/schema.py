"""The tables of a history, as steps from each version of the file to the next.

A step that was released stays as it is: files at every version are about.
"""

from __future__ import annotations

import sqlite3

from trainrx.model.errors import UsageError

APPLICATION = 0x54525258
"""Tells a history from other SQLite files: `TRRX`."""
STEPS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE answers (
          id INTEGER PRIMARY KEY,
          job TEXT NOT NULL,
          inputs_digest TEXT NOT NULL,
          knowledge_serial TEXT NOT NULL,
          outcome TEXT NOT NULL,
          verdict TEXT NOT NULL,
          cause TEXT NOT NULL,
          framework TEXT NOT NULL,
          fingerprint TEXT NOT NULL,
          launch_digest TEXT NOT NULL,
          happened REAL NOT NULL,
          recorded REAL NOT NULL,
          record TEXT NOT NULL,
          UNIQUE (job, inputs_digest, knowledge_serial)
        )
        """,
        # the newest answer to a job is the one that counts
        """
        CREATE TABLE jobs (
          key TEXT PRIMARY KEY,
          name TEXT NOT NULL,
          source TEXT NOT NULL,
          user TEXT NOT NULL,
          answer INTEGER NOT NULL REFERENCES answers (id)
        ) WITHOUT ROWID
        """,
        """
        CREATE VIEW newest AS SELECT key, happened, fingerprint, record
        FROM jobs JOIN answers ON answers.id = jobs.answer
        """,
        """
        CREATE TABLE outcomes (
          job TEXT NOT NULL REFERENCES jobs (key),
          param TEXT NOT NULL,
          value TEXT NOT NULL,
          worked INTEGER NOT NULL,
          fingerprint TEXT NOT NULL,
          told REAL NOT NULL,
          PRIMARY KEY (job, param)
        ) WITHOUT ROWID
        """,
        "CREATE INDEX answers_fingerprint ON answers (fingerprint)",
        "CREATE INDEX answers_happened ON answers (happened)",
        "CREATE INDEX jobs_answer ON jobs (answer)",
        "CREATE INDEX jobs_name ON jobs (name)",
        "CREATE INDEX outcomes_fingerprint ON outcomes (fingerprint)",
    ),
)


def migrate(database: sqlite3.Connection, name: str) -> None:
    """Bring a file to the newest version; several processes may try at once.

    Raises:
        UsageError: it is no history, or one of a newer program.
    """
    if _version(database, name) == len(STEPS):
        return
    database.execute("BEGIN IMMEDIATE")
    try:
        for step in STEPS[_version(database, name) :]:
            for statement in step:
                database.execute(statement)
        database.execute(f"PRAGMA application_id = {APPLICATION}")
        database.execute(f"PRAGMA user_version = {len(STEPS)}")
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def _version(database: sqlite3.Connection, name: str) -> int:
    """Read the version of the file: 0 is an empty one."""
    version = int(database.execute("PRAGMA user_version").fetchone()[0])
    application = int(database.execute("PRAGMA application_id").fetchone()[0])
    tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if tables and application != APPLICATION:
        raise UsageError(f"{name}: this is a database, but no history of trainrx")
    if version > len(STEPS):
        raise UsageError(
            f"{name}: written by a newer trainrx (version {version} of the file; this one knows "
            f"{len(STEPS)}); upgrade trainrx, or give another file"
        )
    return version
