"""A line of a log that is a JSON record: its message, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

MESSAGES = ("log", "message", "msg", "MESSAGE", "line", "textPayload", "event")
"""Docker, Fluentd and Elastic, Go and Python loggers, journald, LogCLI, Google Cloud, structlog."""
COMPANIONS = frozenset(
    (
        *(
            "time",
            "ts",
            "timestamp",
            "@timestamp",
            "asctime",
            "date",
            "stream",
            "level",
            "levelname",
        ),
        *("severity", "log.level", "kubernetes", "podName", "labels", "logger", "PRIORITY"),
        *("__REALTIME_TIMESTAMP", "_PID", "logName", "ingestionTime", "logStreamName"),
    )
)
"""Keys of which a log record has one and a row of a data set none."""
TROUBLE = (
    "error",
    "err",
    "exception",
    "exc_info",
    "stack",
    "stacktrace",
    "stack_trace",
    "traceback",
)
TIMES = ("time", "@timestamp", "timestamp", "ts")
HOSTS = (
    ("kubernetes", "pod_name"),
    ("kubernetes", "pod", "name"),
    ("podName",),
    ("labels", "pod"),
    ("resource", "labels", "pod_name"),
    ("logStreamName",),
    ("_HOSTNAME",),
    ("host", "name"),
    ("hostname",),
    ("host",),
)
_TROUBLE = frozenset(TROUBLE)
_HOSTS = frozenset(path[0] for path in HOSTS)
DOCKER_PIECE = 16_000
"""Bytes of a line beyond which Docker goes on in the next record (16 KiB) instead of ending it."""


class LogRecord(NamedTuple):
    r"""The text of a record, its lines set apart by `\r`; `part`: it goes on in the next."""

    text: bytes
    time: bytes = b""
    host: bytes = b""
    part: bool = False


def record_of(line: bytes) -> LogRecord | None:
    """Read a line as a log record; None where it is anything else."""
    try:
        record = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    if not isinstance(record, dict):
        return None
    inner = record.get("jsonPayload")
    message = _message(inner if isinstance(inner, dict) else record)
    if message is None or COMPANIONS.isdisjoint(record):
        return None
    ended = message.endswith("\n")
    piece = not ended and "stream" in record and len(message) >= DOCKER_PIECE
    text = "\r".join((message.rstrip("\n"), *_trouble(record))).replace("\n", "\r")
    time = next((at for key in TIMES if isinstance(at := record.get(key), str)), "")
    return LogRecord(_bytes(text), _bytes(time), _host(record), piece)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _message(record: Mapping[str, object]) -> str | None:
    for key in MESSAGES:
        value = record.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value and all(isinstance(one, int) for one in value):
            # journald writes a message that is no text (colours are enough) as its bytes
            return bytes(one & 255 for one in value).decode("utf-8", "replace")
    return None


def _trouble(record: Mapping[str, object]) -> Iterator[str]:
    """Give what a record says of an error beside its message."""
    for key in TROUBLE if not _TROUBLE.isdisjoint(record) else ():
        value = record.get(key)
        if isinstance(value, dict):
            value = value.get("stack_trace") or value.get("message")
        if isinstance(value, str):
            yield value.rstrip("\n")


def _host(record: Mapping[str, object]) -> bytes:
    for path in HOSTS if not _HOSTS.isdisjoint(record) else ():
        value: object = record
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, str) and value:
            return _bytes(value)
    return b""
