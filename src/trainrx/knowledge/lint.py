"""Read what linting takes of the knowledge, from a compiled form of its own.

A linter starts once per file that is saved: what it does not use (symptoms, causes, texts of
parameters) would cost more to read than a script takes to be judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from trainrx.knowledge.cache import compiled
from trainrx.knowledge.places import shipped
from trainrx.model.lint import LintKnowledge, LintRule, brief
from trainrx.model.text import Text

if TYPE_CHECKING:
    from trainrx.model.parts import Param

FROM_KB = ("facts", "guards", "params", "models.yaml")
"""What of `kb` lint takes, beside its own rules."""
LINT = "lint"
"""The folder of `rules/` that is read here."""
PART = "lint"
_NOTHING = Text(en="", zh="")


def load_lint(kb: Sequence[Path | str] = (), rules: Sequence[Path | str] = ()) -> LintKnowledge:
    """Load what is shipped, and what the given folders add or replace (same id).

    Raises:
        KnowledgeError: an entry is malformed.
    """
    base = _shipped()
    if not kb and not rules:
        return base
    more = compile_lint([Path(k) for k in kb], [Path(r) for r in rules])
    own = {guard.id for guard in more.guards}
    return LintKnowledge(
        rules=base.rules | more.rules,
        guards=(*more.guards, *(guard for guard in base.guards if guard.id not in own)),
        params=base.params | more.params,
        models=more.models + base.models,
        relations=base.relations | more.relations,
        digest=f"{base.digest}+{more.digest}",
    )


def compile_lint(kb: Sequence[Path], rules: Sequence[Path]) -> LintKnowledge:
    """Read the folders themselves; what of a rule is for readers alone is left out.

    Raises:
        KnowledgeError: an entry is malformed.
    """
    # the readers of YAML are imported only where there is no compiled form
    from trainrx.knowledge.conditions import arguments_of
    from trainrx.knowledge.load import read_entries, read_folders

    knowledge = read_folders(kb, rules)
    guards = (
        brief(guard, arguments_of(guard.when) if guard.when is not None else ())
        for guard in knowledge.guards.values()
    )
    return LintKnowledge(
        rules={
            name: msgspec.structs.replace(rule, summary=_NOTHING, references=())
            for name, rule in read_entries([root / LINT for root in rules], LintRule).items()
        },
        guards=tuple(guard for guard in guards if guard is not None),
        params={name: _spelled(param) for name, param in knowledge.params.items()},
        models=tuple(msgspec.structs.replace(shape, sources=()) for shape in knowledge.models),
        relations=knowledge.relations,
        digest=knowledge.digest,
    )


def _spelled(param: Param) -> Param:
    """Leave out what is for readers of the knowledge: a third of what a run would decode."""
    spelled = {
        owner: tuple(msgspec.structs.replace(item, source="") for item in items)
        for owner, items in param.spelled.items()
    }
    return msgspec.structs.replace(param, title=_NOTHING, spelled=spelled, ask=None)


@cache
def _shipped() -> LintKnowledge:
    """Read once per process, as the whole knowledge is."""
    kb, rules = shipped()
    places = (*(kb / name for name in FROM_KB), rules / LINT)
    return compiled(PART, places, LintKnowledge, lambda: compile_lint([kb], [rules]))
