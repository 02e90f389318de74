"""What may leave: secrets are masked, control characters and hidden ones neutralised.

All text of an input that is shown, written down or passed on goes through here, once per answer for
what it holds (`redactor`), once per medium for how it is written (`media`).
"""

from __future__ import annotations

from typing import Literal

Level = Literal["none", "secrets", "strict"]
"""none: as it is; secrets: keys, tokens and passwords; strict: also who and where."""
LEVELS: tuple[Level, ...] = ("none", "secrets", "strict")
MASK = "***"
