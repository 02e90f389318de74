"""Read a recipe from standard input, run it, print the outcome: both JSON."""

from __future__ import annotations

import os
import resource
import sys
import time
import warnings

import msgspec

from trainrx.exact.record import ExactResult, Failure, Outcome, Recipe


def main() -> int:
    """Run one trial. Always prints an outcome unless the process itself is killed."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no part of the answer
    warnings.simplefilter("ignore")
    recipe = msgspec.json.decode(sys.stdin.buffer.read(), type=Recipe)
    out.write(msgspec.json.encode(_outcome(recipe)))
    out.flush()
    return 0


def _outcome(recipe: Recipe) -> Outcome:
    began = time.monotonic()
    try:
        from trainrx.exact.trial.build import UnknownClassError, UnsupportedError
        from trainrx.exact.trial.step import count
    except ImportError as error:
        return _failed("missing", f"{error.name or error} cannot be imported")
    try:
        result = count(recipe)
    except ImportError as error:
        return _failed("missing", f"{error.name or error} cannot be imported")
    except UnknownClassError as error:
        return _failed("unknown-class", str(error))
    except UnsupportedError as error:
        return _failed("unsupported", str(error))
    except Exception as error:
        if os.environ.get("TRAINRX_EXACT_TRACE"):
            raise
        said = " ".join(str(error).split())
        return _failed("failed", f"{type(error).__name__}: {said[:300]}")
    return Outcome(result=_timed(result, time.monotonic() - began))


def _timed(result: ExactResult, seconds: float) -> ExactResult:
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return msgspec.structs.replace(result, seconds=round(seconds, 1), process_gib=round(used, 2))


def _failed(kind: str, reason: str) -> Outcome:
    return Outcome(failure=msgspec.convert({"kind": kind, "reason": reason}, Failure))


if __name__ == "__main__":
    sys.exit(main())
