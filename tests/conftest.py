"""One setting for all property tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# a time limit for each example would test the machine, not the code
settings.register_profile(
    "steady", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("steady")
