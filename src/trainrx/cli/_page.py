"""Show the page of one entry; used with and without the parser of options."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trainrx.cli._output import write
from trainrx.cli._view import styled, view
from trainrx.knowledge.load import find_entry, load
from trainrx.model.errors import UsageError
from trainrx.model.knowledge import Cause, Symptom
from trainrx.model.text import Lang
from trainrx.render import words
from trainrx.render.explain import explain


def show(
    ident: str,
    lang: Lang | None = None,
    width: int | None = None,
    *,
    kb: Sequence[Path] = (),
    rules: Sequence[Path] = (),
) -> int:
    """Print the page of an entry.

    Raises:
        UsageError: there is none of that name; the message names the nearest.
    """
    seen = view(lang, width, everything=True)
    entry, nearest = find_entry(ident, kb, rules)
    if entry is None:
        parts = [words.NO_ENTRY.in_(seen.lang).format(id=ident)]
        if nearest:
            parts.append(words.NEAREST.in_(seen.lang).format(ids=", ".join(nearest)))
        parts.append(words.LIST_HINT.in_(seen.lang))
        raise UsageError("\n".join(parts))
    behind = _behind(entry.id, kb, rules) if isinstance(entry, Symptom) else ()
    return write(styled(explain(entry, seen, behind)))


def _behind(symptom: str, kb: Sequence[Path], rules: Sequence[Path]) -> tuple[Cause, ...]:
    """Give the causes that a symptom can come from, the most common first."""
    causes = load(kb, rules).causes.values()
    found = (cause for cause in causes if symptom in cause.explains)
    return tuple(sorted(found, key=lambda cause: (-cause.prior, cause.id)))
