"""Read what linting takes of the knowledge, from a compiled form of its own.

A linter starts once per file that is saved: what it does not use (symptoms, causes, texts of
parameters) would cost more to read than a script takes to be judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from trainrx.kb.places import LINT_COMPILED, checkout, shipped
from trainrx.model.lint import LintKnowledge, LintRule, brief


def load_lint(kb: Sequence[Path] = (), rules: Sequence[Path] = ()) -> LintKnowledge:
    """Load what is shipped, and what the given folders add or replace (same id).

    Raises:
        KnowledgeError: an entry is malformed.
    """
    base = _shipped()
    if not kb and not rules:
        return base
    more = compile_lint(kb, rules)
    own = {guard.id for guard in more.guards}
    return LintKnowledge(
        rules=base.rules | more.rules,
        guards=(*more.guards, *(guard for guard in base.guards if guard.id not in own)),
        params=base.params | more.params,
        models=more.models + base.models,
        digest=f"{base.digest}+{more.digest}",
    )


def compile_lint(kb: Sequence[Path], rules: Sequence[Path]) -> LintKnowledge:
    """Read the folders themselves.

    Raises:
        KnowledgeError: an entry is malformed.
    """
    # the readers of YAML are imported only where there is no compiled form
    from trainrx.kb.conditions import arguments_of
    from trainrx.kb.load import LINT, read_entries, read_folders

    knowledge = read_folders(kb, rules)
    guards = (
        brief(guard, arguments_of(guard.when) if guard.when is not None else ())
        for guard in knowledge.guards.values()
    )
    return LintKnowledge(
        rules=read_entries([root / LINT for root in rules], LintRule),
        guards=tuple(guard for guard in guards if guard is not None),
        params=knowledge.params,
        models=knowledge.models,
        digest=knowledge.digest,
    )


def _shipped() -> LintKnowledge:
    if checkout() is None:
        ready = shipped()[0].parent / LINT_COMPILED
        if ready.is_file():
            return _decoded(ready.read_bytes())
    from trainrx.kb.cache import cache_file, keep

    folders = shipped()
    cache = cache_file(folders, "lint")
    try:
        return _decoded(cache.read_bytes())
    except (OSError, msgspec.MsgspecError):
        knowledge = compile_lint(folders[:1], folders[1:])
    keep(cache, msgspec.msgpack.encode(knowledge))
    return knowledge


def _decoded(data: bytes) -> LintKnowledge:
    return msgspec.msgpack.decode(data, type=LintKnowledge)
