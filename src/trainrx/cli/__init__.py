"""The command line: `diagnose` (and `trainrx`, the same program)."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

DEFAULT = "diagnose"


def program() -> NoReturn:
    """Run the command and end the process: what the console script calls."""
    leave(main())


def leave(status: int) -> NoReturn:
    """End the process without taking down, object by object, what an answer was built from.

    That takes a sixth of the time of a lint run. Whoever asked to be told of the end (a measurement
    of coverage, a pool of processes) is told, and threads are waited for: then it ends as usual.
    """
    # nothing that lives now is worth a search for garbage
    gc.freeze()
    told = getattr(atexit, "_ncallbacks", lambda: 1)
    if told() or "threading" in sys.modules:
        sys.exit(status)
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):  # the reader has gone, or somebody closed it
        status = status or 1
    os._exit(status)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that the first word names, else `diagnose`; give the exit status.

    What is asked most (`--version`, `explain ID`) is answered without importing the parser of
    options, which costs more than the answer.
    """
    # one short answer makes little garbage: looking for it less often saves a tenth of the time
    gc.set_threshold(100_000, 50, 50)
    words = list(sys.argv[1:] if argv is None else argv)
    if words in (["--version"], ["-V"]):
        from trainrx.model.version import __version__

        return guarded_print(f"trainrx {__version__}\n")
    from trainrx.cli._output import guarded

    return guarded(lambda: _dispatch(words))


def guarded_print(text: str) -> int:
    """Print a text; a closed pipe is no error."""
    from trainrx.cli._output import write

    return write(text)


def _dispatch(words: list[str]) -> int:
    if len(words) == 2 and words[0] == "explain" and not words[1].startswith("-"):
        from trainrx.cli._page import show

        return show(words[1])
    if words[:1] == ["lint"]:
        # it runs once per saved file: even to list the commands would be felt
        from trainrx.cli._lean import import_records

        import_records()
        from trainrx.cli.lint import run

        return run(words[1:])
    from importlib import import_module

    from trainrx.cli._commands import commands

    named = bool(words) and words[0] in commands()
    module = import_module(f"trainrx.cli.{words[0] if named else DEFAULT}")
    status: int = module.run(words[1:] if named else words)
    return status
