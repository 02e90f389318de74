"""What the interpreter of a framework imports first in a dry run: this folder is on PYTHONPATH."""

import os
from importlib import import_module

if os.environ.get("TRAINRX_DRY_RUN"):
    import_module("trainrx_hooks").install()
