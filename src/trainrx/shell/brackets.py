"""Where a quoted or bracketed piece of shell text ends."""

from __future__ import annotations

import re

from trainrx.model.pattern import late

_BARE = late(r"\\.|'[^']*'|\$'(?:[^'\\]|\\.)*'|\$\{|\$\(|[\"`()}]", re.DOTALL)
_IN_QUOTES = late(r"\\.|\$\{|\$\(|[\"`]", re.DOTALL)
_CLOSER = {"${": "}", "$(": ")", "(": ")", '"': '"', "`": "`"}


def closing(text: str, start: int, opener: str, limit: int) -> int:
    r"""Find where what `opener` began is closed, quotes and nested brackets counted.

    Args:
        text: The script or word.
        start: Position just after the opener.
        opener: One of `"`, `` ` ``, `$(`, `${`, `(`.
        limit: Position to give up at.

    Returns:
        The position just after the closing sign, or -1 when there is none.
    """
    stack = [_CLOSER[opener]]
    position = start
    while position < limit:
        rule = _IN_QUOTES if stack[-1] == '"' else _BARE
        match = rule.search(text, position, limit)
        if match is None:
            return -1
        found, position = match[0], match.end()
        if found == stack[-1]:
            stack.pop()
            if not stack:
                return position
        elif found in _CLOSER:
            stack.append(_CLOSER[found])
    return -1
