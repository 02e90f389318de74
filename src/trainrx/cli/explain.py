"""`diagnose explain ID`: the page of one entry of the knowledge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trainrx.cli import make_app
from trainrx.cli._options import KNOWN, WidthOption, takes
from trainrx.cli._output import show_page, view
from trainrx.knowledge.load import find_entry, load
from trainrx.knowledge.store import Knowledge
from trainrx.knowledge.verified import looks_at
from trainrx.launch.request import Request
from trainrx.model.errors import UsageError
from trainrx.model.knowledge import Cause, Symptom
from trainrx.model.levers import Guard
from trainrx.render import words
from trainrx.render.explain import explained

Ident = Annotated[str, typer.Argument(metavar="ID", help="As `diagnose kb list` shows it.")]

app = make_app(bare=True)


@app.command(help="Show what is known of one entry: a cause, symptom, parameter, rule, lever ...")
@takes(*KNOWN)
def explain(request: Request, ident: Ident, *, width: WidthOption = None) -> int:
    """Show the page of one entry.

    Raises:
        UsageError: there is none of that name; the message names the nearest.
    """
    kb, rules = ([Path(name) for name in names] for names in (request.kb, request.rules))
    seen = view(request.lang, width, everything=True)
    entry, nearest = find_entry(ident, kb, rules)
    if entry is None:
        parts = [words.NO_ENTRY.in_(seen.lang).format(id=ident)]
        if nearest:
            parts.append(words.NEAREST.in_(seen.lang).format(ids=", ".join(nearest)))
        parts.append(words.LIST_HINT.in_(seen.lang))
        raise UsageError("\n".join(parts))
    behind = _behind(entry.id, load(kb, rules)) if isinstance(entry, Symptom) else ()
    levers = load(kb, rules).levers if isinstance(entry, (Cause, Guard)) else None
    return show_page(explained(entry, seen, behind, levers, looks_at(entry)), seen)


def _behind(symptom: str, knowledge: Knowledge) -> tuple[Cause, ...]:
    """Give the causes that a symptom can come from, the most common first."""
    found = (cause for cause in knowledge.causes.values() if symptom in cause.explains)
    return tuple(sorted(found, key=lambda cause: (-cause.prior, cause.id)))
