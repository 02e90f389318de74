"""Turn every way a command can fail into one clear message and an exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from trainrx.cli._output import complain
from trainrx.model.errors import KnowledgeError, UsageError

INTERRUPTED = 130


def guarded(work: Callable[[], int]) -> int:
    """Run a command; give its status, or 2 after a message when it could not do its work."""
    try:
        return work()
    except (UsageError, KnowledgeError) as error:
        return complain(str(error))
    except KeyboardInterrupt:
        complain("interrupted")
        return INTERRUPTED
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    except Exception as error:  # noqa: BLE001 - the last place where a defect can be told
        return _unexpected(error)


def _unexpected(error: Exception) -> int:
    """Tell a wrong command line from a defect of this program.

    Typer brings its own copy of click's errors in some releases, so they are known by their shape.
    """
    show = getattr(error, "show", None)
    if callable(show) and hasattr(error, "exit_code"):
        show(file=sys.stderr)
        return 2
    if type(error).__name__ == "Abort":
        complain("interrupted")
        return INTERRUPTED
    if os.environ.get("TRAINRX_DEBUG"):
        raise error
    return complain(
        f"this is a defect of trainrx, not of your job: {type(error).__name__}: {error}\n"
        "Set TRAINRX_DEBUG=1 and run again to see where, then report it with the command line "
        "and that output (mask secrets first)."
    )
