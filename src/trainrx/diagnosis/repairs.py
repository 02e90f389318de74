"""What the history of the program in question says of a failure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from trainrx.facts.releases import ASKED, repair_facts
from trainrx.inputs.stream import exceptions, functions, without_paths
from trainrx.knowledge.repairs import name_term, names_in, open_repairs, words_in
from trainrx.launch.given import Given
from trainrx.model.facts import Fact, Facts
from trainrx.model.job import RawLaunch
from trainrx.model.knowledge import Family

NOTED, EXCEPTION, MODEL, KIND = 1.0, 0.7, 0.7, 0.7
"""Weights of a word the user writes, of one of an exception, of the model's name, and of the kind
of failure; the same words count once, where they weigh most."""
NAMED, RAISED, PASSED, SET = 2.0, 1.5, 1.0, 0.3
"""Weights of a name in the note, in an exception, of a function of the traceback, and of an
argument of the launch."""
JOINED = 0.5
"""Share of it that the name and number of a model joined weigh: each of them counts as well."""
LAST = 4
"""Exceptions that are read: what was raised while another was handled stands before it."""
WORDS: Mapping[Family, str] = {
    "oom": "oom memory",
    "host_oom": "oom memory leak",
    "growing_memory": "memory leak oom",
    "hang": "hang stuck deadlock timeout",
    "init_hang": "hang stuck timeout",
    "nan_loss": "nan loss",
    "slow": "slow speed performance",
    "version_conflict": "compat version",
}
"""How changes are described that repair such a failure."""


def repairs(
    given: Given,
    facts: Facts,
    seen: Collection[Family],
    launch: RawLaunch | None,
    versions: Mapping[str, str],
) -> tuple[Fact, ...]:
    """Say which change of the framework, or of the package that raised, is nearest to a failure.

    Args:
        given: the notes and logs.
        facts: what is known of the job.
        seen: the kinds of failure that were seen; nothing is said where there is none.
        launch: the launch, where there is one.
        versions: what is installed.
    """
    packages = dict.fromkeys(name for kind in ASKED if (name := facts.text(kind)))
    tables = [table for name in packages if (table := open_repairs(name)) is not None]
    if not tables or not seen:
        return ()
    asked = _asked(given, facts, seen, launch)
    passed = {name_term(name) for name in functions(given.logs)}
    found = (tuple(repair_facts(asked, table, versions, passed)) for table in tables)
    return max(found, key=_share)


def _share(facts: Sequence[Fact]) -> float:
    return Facts(facts).number("repair.share") or 0.0


def _asked(
    given: Given, facts: Facts, seen: Collection[Family], launch: RawLaunch | None
) -> dict[str, float]:
    asked: dict[str, float] = {}

    def ask(terms: Iterable[str], weight: float) -> None:
        for term in terms:
            counted = weight * JOINED if term.startswith("=") else weight
            asked[term] = max(counted, asked.get(term, 0.0))

    for note in given.notes:
        text = without_paths(note.text or "")
        ask(words_in(text), NOTED)
        ask(names_in(text), NAMED)
    for line in list(exceptions(given.logs))[-LAST:]:
        ask(words_in(line), EXCEPTION)
        ask(names_in(line), RAISED)
    ask(map(name_term, functions(given.logs)), PASSED)
    ask(words_in((facts.text("model.name") or "").replace("/", " ")), MODEL)
    ask(words_in(" ".join(WORDS.get(family, "") for family in seen)), KIND)
    if launch is not None:
        ask((name_term(argument.name) for argument in launch.args if "_" in argument.name), SET)
    return asked
