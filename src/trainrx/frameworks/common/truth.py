"""Three-valued logic: None is not known."""

from __future__ import annotations

from trainrx.frameworks.common.view import Truth


def both(*parts: Truth) -> Truth:
    """Tell whether all hold."""
    if any(part is False for part in parts):
        return False
    return None if any(part is None for part in parts) else True


def either(*parts: Truth) -> Truth:
    """Tell whether one of them holds."""
    if any(part is True for part in parts):
        return True
    return None if any(part is None for part in parts) else False


def negate(part: Truth) -> Truth:
    """Turn true and false around."""
    return None if part is None else not part
