"""Rules that hold for every kind of entry: names, texts, sources, dates, versions, conditions."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from trainrx.entries.problem import Problem, error, warning
from trainrx.knowledge.conditions import ARGUMENT, COUNT, facts_of, packages_of, symptoms_of, walk
from trainrx.model import __version__
from trainrx.model.knowledge import Cause, FactEntry, Symptom
from trainrx.model.levers import Guard, Lever
from trainrx.model.lint import LintRule
from trainrx.model.parts import Condition, Param, Reference
from trainrx.model.pattern import late
from trainrx.model.protocols import Protocol
from trainrx.model.safety import SafetyRule
from trainrx.model.states import ThreadState
from trainrx.model.text import Text

SLUG = late(r"[a-z0-9]+(-[a-z0-9]+)*")
CHINESE = late(r"[\u3400-\u9fff]")
_SENTENCE = late(r"(?:\b[a-z]{2,15}\b[ ,]{1,2}){5}")
_QUOTED = late(r"`[^`]*`|“[^”]*”|\"[^\"]*\"|「[^」]*」|'[^']*'")
MAX_TITLE = 90
_MADE = ("changed.", "moved.", "good.")


Headed = Cause | Symptom | Guard | Lever | LintRule | Protocol | ThreadState


class KnownNames(NamedTuple):
    """What entries may refer to, and the day on which the check is made (YYYY-MM-DD).

    `shared` counts the causes that explain a symptom.
    """

    symptoms: frozenset[str]
    causes: frozenset[str]
    params: Mapping[str, Param]
    facts: Mapping[str, FactEntry]
    shared: Mapping[str, int]
    confused: frozenset[tuple[str, str]]
    aliases: Mapping[str, int]
    today: str
    safety: tuple[SafetyRule, ...] = ()

    def is_fact(self, name: str) -> bool:
        """Tell whether a fact of this name can exist."""
        if name.startswith((ARGUMENT, COUNT, "log.version.", "log.releases.")):
            return True
        stem = name
        for prefix in _MADE:
            stem = stem.removeprefix(prefix)
        return stem in self.params or stem in self.facts


def title_problems(title: Text, key: str = "title") -> Iterator[Problem]:
    """Refuse titles that are no titles."""
    yield from text_problems((key, title))
    for lang, text in (("en", title.en), ("zh", title.zh)):
        if len(text) > MAX_TITLE:
            said = f"has {len(text)} characters, a title at most {MAX_TITLE}"
            yield error(f"{key}.{lang}", said)
        if text.rstrip().endswith((".", "。")) and not text.rstrip().endswith("..."):
            yield error(f"{key}.{lang}", "a title ends without a period")


def text_problems(*texts: tuple[str, Text | None]) -> Iterator[Problem]:
    """Refuse texts that do not stand in both languages, each in its own."""
    for key, text in texts:
        if text is None:
            continue
        for lang, words in (("en", text.en), ("zh", text.zh)):
            if not words.strip():
                yield error(f"{key}.{lang}", "is empty; words are needed in both languages")
        if CHINESE.search(text.en):
            yield error(f"{key}.en", "the English text holds Chinese")
        plain = _QUOTED.sub("", text.zh)
        if text.en == text.zh and re.search(r"[a-z]{2,} [a-z]{2,}", text.en):
            yield error(f"{key}.zh", "repeats the English text")
        elif not CHINESE.search(text.zh) and re.search(r"[a-z]{3,} [a-z]{3,}", plain):
            yield error(f"{key}.zh", "the Chinese text is English")
        elif _SENTENCE.search(plain):
            yield error(f"{key}.zh", "the Chinese text holds an English sentence")


def question_problems(key: str, question: Text | None) -> Iterator[Problem]:
    """Refuse what does not read as a question, in either language."""
    yield from text_problems((key, question))
    if question is not None and not question.en.endswith("?"):
        yield error(f"{key}.en", "a question ends with a question mark")
    if question is not None and not question.zh.endswith("？"):
        yield error(f"{key}.zh", "a question ends with a question mark (？)")


def head_problems(
    entry: Headed, stem: str, names: KnownNames, *, cited: bool = True
) -> Iterator[Problem]:
    """Refuse what is wrong with what stands in each entry; `cited`: it needs a source."""
    yield from id_problems(entry.id, stem, entry.aliases, names)
    yield from title_problems(entry.title)
    yield from date_problems("updated", entry.updated, names.today)
    yield from release_problems(entry.since)
    if cited or entry.references:
        yield from reference_problems(entry.references, names.today)


def id_problems(
    ident: str, stem: str, aliases: Sequence[str], names: KnownNames
) -> Iterator[Problem]:
    """Refuse ids that are not the file name in lower-case words, and aliases that are taken."""
    if ident != stem:
        yield error("id", f"is {ident!r}, the file name says {stem!r}")
    if not SLUG.fullmatch(ident):
        yield error("id", f"{ident!r} must be lower-case words joined by dashes")
    for alias in aliases:
        if names.aliases.get(alias, 0) > 1 or alias in names.causes | names.symptoms:
            yield error("aliases", f"{alias!r} names another entry")


def date_problems(key: str, text: str, today: str) -> Iterator[Problem]:
    """Refuse what is no day, and days to come."""
    try:
        day = dt.date.fromisoformat(text) if len(text) == 10 else None
    except ValueError:
        day = None
    if day is None:
        yield error(key, f"{text!r} is no date like 2026-11-21")
    elif text > today:
        yield error(key, f"{text} has not come yet (today is {today})")


def release_problems(since: str) -> Iterator[Problem]:
    """Refuse an entry that claims to be from a release to come."""
    try:
        if Version(since) > Version(__version__):
            yield error("since", f"{since} is not released; this is {__version__}")
    except InvalidVersion:
        yield error("since", f"{since!r} is no version")


def reference_problems(
    references: Sequence[Reference], today: str, key: str = "references"
) -> Iterator[Problem]:
    """Refuse entries without sources, and sources nobody can open."""
    if not references:
        yield error(key, "no source, no entry")
    seen: set[str] = set()
    for ref in references:
        where = f"{key}.{ref.id}"
        if ref.id in seen:
            yield error(where, "stands twice")
        seen.add(ref.id)
        if ref.kind != "run" and not re.fullmatch(r"https://[^\s/]+\.[^\s/]+(/\S*)?", ref.url):
            yield error(f"{where}.url", f"{ref.url!r} is no https:// address")
        if not ref.says.strip():
            yield error(f"{where}.says", "what does the source say? Own words, one sentence")
        if ref.checked:
            yield from date_problems(f"{where}.checked", ref.checked, today)


def unused_references(references: Sequence[Reference], used: set[str]) -> Iterator[Problem]:
    """Name sources no claim points to."""
    for ref in references:
        if ref.id not in used:
            yield warning(f"references.{ref.id}", "no vote and no fix points to it by ref")


def range_problems(key: str, spec: str) -> Iterator[Problem]:
    """Refuse what is no PEP 440 range."""
    try:
        SpecifierSet(spec)
    except InvalidSpecifier:
        yield error(key, f"{spec!r} is not a PEP 440 version range, such as '>=3.0,<3.5'")


def condition_problems(key: str, condition: Condition, names: KnownNames) -> Iterator[Problem]:
    """Refuse conditions that are malformed or test what does not exist."""
    for _, problem in walk(condition):
        if problem:
            yield error(key, problem)
    for name in facts_of(condition):
        if not names.is_fact(name):
            yield error(key, f"the fact {name!r} is neither in kb/params nor in kb/facts")
    for name in symptoms_of(condition):
        if name not in names.symptoms:
            yield error(key, f"no symptom {name!r}")
    for _, spec in packages_of(condition):
        yield from range_problems(key, spec)
    for node, _ in walk(condition):
        yield from _value_problems(key, node, names)


def _value_problems(key: str, node: Condition, names: KnownNames) -> Iterator[Problem]:
    """Refuse to compare a fact with a word it never takes."""
    entry = names.facts.get(node.fact or "")
    if entry is None or not entry.values:
        return
    told = (*(node.one_of or ()), *(v for v in (node.eq, node.ne) if v is not None))
    for value in told:
        if str(value) not in entry.values:
            yield warning(key, f"{node.fact} is never {value!r}, only {', '.join(entry.values)}")
