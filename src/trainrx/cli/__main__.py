"""`python -m trainrx.cli` is `diagnose`."""

from __future__ import annotations

import sys

from trainrx.cli import main

sys.exit(main())
