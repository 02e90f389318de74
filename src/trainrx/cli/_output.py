"""Write the answer to standard output, whatever it is connected to."""

from __future__ import annotations

import os
import sys


def write(text: str, *, utf8: bool = False) -> int:
    """Write text and flush it; give the exit status.

    `utf8`: JSON is UTF-8 whatever the locale. A reader that has gone away (`| head`) is no error;
    an output that takes nothing (a full disk) is, status 2.
    """
    out = sys.stdout
    if out is None:
        return complain("standard output is closed, so there is no place for the answer")
    encoding = "utf-8" if utf8 else (out.encoding or "utf-8")
    try:
        _send(text if utf8 else fitted(text, encoding), encoding)
    except BrokenPipeError:
        _abandon()
    except OSError as error:
        _abandon()
        reason = error.strerror or str(error)
        return complain(f"the answer could not be written to standard output: {reason}")
    return 0


def complain(message: str) -> int:
    """Say on standard error what is wrong; give exit status 2."""
    if sys.stderr is not None:
        encoding = sys.stderr.encoding or "utf-8"
        try:
            sys.stderr.write(fitted(f"diagnose: {message}\n", encoding))
            sys.stderr.flush()
        except OSError:
            return 2
    return 2


def fitted(text: str, encoding: str) -> str:
    """Replace what an encoding cannot hold: a check mark in GBK, a lone surrogate in UTF-8."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        plain = text.translate(_PLAIN)
        return plain.encode(encoding, "replace").decode(encoding)
    return text


_PLAIN = str.maketrans("✓·█▓▒░–", "v-#%+.-")


def _send(text: str, encoding: str) -> None:
    data = text.encode(encoding, "replace")
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _abandon() -> None:
    """Point standard output at nothing, so that the interpreter's last flush is silent."""
    try:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)
    except (OSError, ValueError):
        return
