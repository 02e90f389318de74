"""One setting for all property tests."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# the same examples in every run, so that a failure is one of the change; `make fuzz` looks for new
# ones. A time limit for each example would test the machine, not the code.
settings.register_profile(
    "steady",
    deadline=None,
    derandomize=not os.environ.get("TRAINRX_FUZZ"),
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("steady")
