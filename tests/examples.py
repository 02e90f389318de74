"""On how many examples a property is tried: on five times as many in `make fuzz`."""

from __future__ import annotations

import os

from hypothesis import settings

FUZZ = bool(os.environ.get("TRAINRX_FUZZ"))


def examples(count: int) -> settings:
    """Give the settings of a property whose examples are dear."""
    return settings(max_examples=count * 5 if FUZZ else count)
