"""One setting for all property tests."""

from __future__ import annotations

import os
import pkgutil
from contextlib import suppress
from importlib import import_module

from hypothesis import HealthCheck, settings

import trainrx
from examples import FUZZ

# how long a test takes on a busy machine is no part of what a command says
os.environ["TRAINRX_PROGRESS"] = "0"

# Hypothesis draws constants from the modules that are loaded: with modules loaded by whatever test
# ran before, the examples would differ from run to run
for module in pkgutil.walk_packages(trainrx.__path__, "trainrx."):
    if not module.name.endswith("__main__"):
        with suppress(ModuleNotFoundError):  # of an extra that is not installed
            import_module(module.name)

# the same examples in every run, so that a failure is one of the change; `make fuzz` looks for new
# ones. A time limit for each example would test the machine, not the code.
settings.register_profile(
    "steady",
    deadline=None,
    derandomize=not FUZZ,
    max_examples=500 if FUZZ else 100,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("steady")
