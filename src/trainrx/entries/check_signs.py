"""Rules for symptoms, and for the messages of guards."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainrx.entries.check_common import (
    KnownNames,
    head_problems,
    question_problems,
    text_problems,
)
from trainrx.entries.patterns import is_needed, regex_problems
from trainrx.entries.problem import Problem, error, warning
from trainrx.entries.sources import EntrySource
from trainrx.evidence.denial import is_negated, is_ruled_out
from trainrx.knowledge.conditions import tests_of, walk
from trainrx.model.knowledge import LinePattern, Samples, Symptom

MIN_SAMPLES = 2


def symptom_problems(
    entry: Symptom, stem: str, folder: str, names: KnownNames
) -> Iterator[Problem]:
    """List what is wrong with a symptom that lies in `symptoms/<folder>/<stem>.yaml`."""
    yield from head_problems(entry, stem, names, cited=entry.role in ("failure", "echo"))
    yield from text_problems(("summary", entry.summary), ("found_by", entry.found_by))
    yield from question_problems("question", entry.question)
    yield from _role(entry, folder)
    short = entry.role == "observation"
    told = short and entry.is_failure
    yield from pattern_problems(entry.patterns, entry.samples, short=short, told=told)
    yield from _captures(entry, names)
    yield from _above(entry)
    yield from _echoes(entry, names)
    if entry.role == "failure" and not (entry.echo_of or names.shared.get(entry.id)):
        yield warning("patterns", "no cause explains what they find: the answer stays unknown")


def repeated_patterns(entries: Sequence[EntrySource]) -> Iterator[tuple[EntrySource, Problem]]:
    """Warn of a pattern that two symptoms of one role hold; a vague one stands back by itself."""
    found: dict[object, list[tuple[EntrySource, int]]] = {}
    for source in entries:
        for entry in source.records:
            if isinstance(entry, Symptom) and not entry.vague:
                for at, pattern in enumerate(entry.patterns):
                    same = (entry.role, frozenset(pattern.needles), pattern.regex)
                    found.setdefault(same, []).append((source, at))
    for places in found.values():
        for source, at in places:
            others = {other.ident for other, _ in places} - {source.ident}
            if others:
                said = f"the same needle and regex stand in {', '.join(sorted(others))}"
                yield source, warning(f"patterns[{at}]", said)


def _role(entry: Symptom, folder: str) -> Iterator[Problem]:
    if entry.role == "failure" and entry.family is None:
        yield error("family", "a failure needs one")
    if entry.role == "phase" and not entry.phase:
        yield error("phase", "role phase needs one")
    if entry.role == "frame" and not entry.site:
        yield error("site", "role frame needs one")
    right: set[str] = {entry.role} if entry.role != "failure" else set()
    if entry.role in ("failure", "echo") and entry.family is not None:
        right.add(entry.family)
    if folder not in right and right:
        wanted = " or ".join(sorted(right))
        yield error("family", f"lies in the folder {folder!r}, its place is {wanted}")


def pattern_problems(
    patterns: Sequence[LinePattern], samples: Samples, *, short: bool = False, told: bool = False
) -> Iterator[Problem]:
    """Refuse regexes that are slow, and samples they do not judge as said.

    Args:
        patterns: those of one entry.
        samples: its samples.
        short: whether they are for notes.
        told: whether what they find is trouble in notes: it does not count where it is denied.
    """
    sound = True
    for index, pattern in enumerate(patterns):
        # a note is a sentence, not a log: there a short needle costs nothing
        for problem in regex_problems(pattern, short=short):
            about = "needle" if "needle" in problem else "regex"
            yield error(f"patterns[{index}].{about}", problem)
            sound = sound and not problem.startswith("is not a regex")
        if sound and not is_needed(pattern):
            # in logs a rarer needle may be meant to leave some ways out: they are many lines long
            said = "matches lines that hold no needle: they are never looked at"
            yield (error if short else warning)(f"patterns[{index}].needle", said)
    for key, lines in (("match", samples.match), ("near_miss", samples.near_miss)):
        if len(lines) < MIN_SAMPLES:
            wanted = "match" if key == "match" else "look alike and do not match"
            yield error(f"samples.{key}", f"has {len(lines)} lines; {MIN_SAMPLES} that {wanted}")
        for twice in sorted({line for line in lines if lines.count(line) > 1}):
            yield error(f"samples.{key}", f"holds a line twice: {twice[:80]!r}")
    if not sound:
        return
    for index, line in enumerate(samples.match):
        if not any(_hits(pattern, line, told=told) for pattern in patterns):
            yield error(f"samples.match[{index}]", f"is not matched: {line[:80]!r}")
    for index, line in enumerate(samples.near_miss):
        if any(_hits(pattern, line, told=told) for pattern in patterns):
            yield error(f"samples.near_miss[{index}]", f"is matched: {line[:80]!r}")
    yield from _untested(patterns, samples, told=told)


def _untested(
    patterns: Sequence[LinePattern], samples: Samples, *, told: bool
) -> Iterator[Problem]:
    silent = [
        index
        for index, pattern in enumerate(patterns)
        if not any(_hits(pattern, line, told=told) for line in samples.match)
    ]
    if silent:
        listed = ", ".join(str(index) for index in silent)
        said = f"no sample shows what these are for, so nothing tests them: {listed} (from 0)"
        yield warning(f"patterns[{silent[0]}]", said)


def _captures(entry: Symptom, names: KnownNames) -> Iterator[Problem]:
    groups = {name for pattern in entry.patterns for name in _groups(pattern)} | set(entry.above)
    for name, value in entry.facts.items():
        if isinstance(value, str) and value.startswith("$") and value[1:] not in groups:
            yield error(f"facts.{name}", f"no pattern captures {value[1:]!r}")
        if not names.is_fact(name):
            yield error(f"facts.{name}", "is neither in kb/params nor in kb/facts")
    for group in entry.types:
        if group not in groups:
            yield error(f"types.{group}", "no pattern captures it")
    for group, meanings in entry.codes.items():
        if group not in groups:
            yield error(f"codes.{group}", "no pattern captures it")
        for code, fields in meanings.items():
            if groups & set(fields):
                taken = ", ".join(sorted(groups & set(fields)))
                yield error(f"codes.{group}.{code}", f"a pattern captures {taken} already")


def _above(entry: Symptom) -> Iterator[Problem]:
    """Refuse what is read from the lines above in a way that would never be, or not be linear."""
    if entry.above and entry.role != "failure":
        yield error("above", "is read for failures only")
    for name, regex in entry.above.items():
        pattern = LinePattern(needle=name, regex=regex)
        for problem in regex_problems(pattern, short=True):
            yield error(f"above.{name}", problem)
        if name not in _groups(pattern):
            yield error(f"above.{name}", f"captures no {name!r}")


def _echoes(entry: Symptom, names: KnownNames) -> Iterator[Problem]:
    """Refuse an echo of what there is not, of itself, without words or by a test of nothing."""
    known = {ref.id for ref in entry.references}
    for at, echo in enumerate(entry.echo_of):
        where = f"echo_of[{at}]"
        yield from text_problems((f"{where}.why", echo.why))
        for name in echo.by:
            if name not in names.symptoms or name == entry.id:
                yield error(f"{where}.by", f"no other symptom {name!r}")
        if not echo.by:
            yield error(f"{where}.by", "is empty: it would never be an echo")
        for ref in echo.refs:
            if ref not in known:
                yield error(f"{where}.refs", f"no reference {ref!r}")
    for _, condition in tests_of(entry):
        yield from (error("echo_of", problem) for _, problem in walk(condition) if problem)


def _groups(pattern: LinePattern) -> tuple[str, ...]:
    try:
        return tuple(re.compile(pattern.regex).groupindex)
    except re.error:
        return ()


def _hits(pattern: LinePattern, line: str, *, told: bool) -> bool:
    ignore_case = pattern.regex.startswith("(?i)")
    there = any(
        needle.lower() in line.lower() if ignore_case else needle in line
        for needle in pattern.needles
    )
    found = re.finditer(pattern.regex, line) if there else iter(())
    spans = [hit.span() for hit in found]
    if pattern.unless_negated:
        spans = [span for span in spans if not is_negated(line, *span)]
    return any(not (told and is_ruled_out(line, *span)) for span in spans)
