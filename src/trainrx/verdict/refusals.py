"""What lint knows is evidence: an error of the launch as a cause, weighed by what the log shows.

Of 452 launches the frameworks refused lint has an error in 439, and in none of the 278 they took
(tests/lint): that a launch with an error is refused is nearly sure. That this is what a
job died of is so only where its program says so itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from trainrx.catalog.catalog import plain
from trainrx.diagnosis.conclusion import Conclusion
from trainrx.inputs.stream import functions
from trainrx.linter.given import ESTIMATED
from trainrx.model.findings import Finding
from trainrx.model.pattern import late
from trainrx.model.result import CauseOut, Change, Diagnosis, Reason
from trainrx.model.text import Text
from trainrx.prove.mending import begun
from trainrx.reason.certainty import LIKELY
from trainrx.verdict.finding_causes import (
    OF_CHECKPOINTS,
    Refused,
    cause_of,
    confirmed,
    lines_of,
    with_edit,
    with_remedy,
)
from trainrx.verdict.preflight import was_seen
from trainrx.verdict.subjects import refusing_lines, subject_of

NAMED, AHEAD = 3.0, 3.0
"""Nats: of a refusal that names the error, and of one that is still to come."""
MOST = 3
AT_HAND = 4.0
"""Nats: of a fault of the data itself, where the job died while it read data."""
READING = Text(
    en="The job stopped while it read this, and the files here show the fault.",
    zh="任务正是在读取它时停止的，这里的文件也显示了这个问题。",
)
SAID = Text(en="The program names it in its own refusal.", zh="程序自己的报错里点名了它。")
NOT_MET = Text(
    en="The framework meets it before it trains, and refuses the launch.",
    zh="框架在开始训练之前就会遇到它，并拒绝启动。",
)
SHELL, VERSIONS, DATA = "shell", "versions", "data"
"""Groups of rules: of the script itself, what it loses the framework misses; of packages."""
LAYOUT = "layout"
"""Rules about ranks and nodes: where they are wrong, torchrun waits and prints nothing."""
EN_DASH = "en-dash-flag"
"""Lint only warns where a list takes the words in; that the argument is lost is as sure."""
BEHIND_FILE = "option-behind-config"
SAID_BY_USER = "observation"
WRONG_TYPE = "wrong-type"
WRONG_CHOICE = "wrong-choice"
_AS_TEXT = late(r"TypeError: .*\bstr\b")
"""A value that is text arrives where a number is computed with: files are read without types."""
_PACKAGE = late(r"[A-Za-z][\w-]*")
_READS_ARGUMENTS = late(r"(?:^|_)(?:parse|args|argv|arguments)(?:_|$)|^__post_init__$")
"""Functions that read arguments and check what they are told."""
_READS_DATA = late(
    r"dataset|align|preprocess|convert|tokenize|encode|collat|prepare_split|__getitem__|fetch"
)
"""Functions that read data, or make batches of it."""
_LOADS = late(r"checkpoint|load_state_dict|from_pretrained|load_adapter|load_peft|load_file")
"""Functions that load what a run goes on from."""
_FILE = late(r"[\w.-]+\.[A-Za-z]\w{0,9}(?![\w./])")
_FOLDER = late(r"(?<=/)[\w.-]+(?![\w./-])")
ABSENT = ("data-file-missing", "checkpoint-missing")
"""The rules about data and checkpoints that are not at hand."""


def with_refusals(found: Diagnosis, done: Conclusion) -> Diagnosis:
    """Let the errors of the launch take part in the causes, where the failure may be theirs."""
    of_data = list(_of_data(found, done))
    likely = any(cause.verdict == "likely" for cause in found.causes)
    if was_seen(done, found) and likely and not of_data:
        return _behind_file(found, done) or _mended(found, done)
    refused = (of_data or list(_refused(found, done)))[:MOST]
    if not refused:
        return found
    causes = list(found.causes)
    for item in refused:
        group = _group(item.finding, done)
        same = (_covers(cause, item, done, group) for cause in causes)
        at = next((i for i, covers in enumerate(same) if covers), None)
        if at is None:
            causes.append(cause_of(item, done))
        else:
            cause = confirmed(causes[at], item, done)
            causes[at] = with_remedy(cause, item, done) if of_data else cause
    causes.sort(key=lambda cause: -cause.score)
    if not was_seen(done, found):
        return msgspec.structs.replace(found, causes=tuple(causes))
    sure = causes[0].probability >= LIKELY
    return msgspec.structs.replace(
        found,
        causes=tuple(causes),
        verdict="diagnosed" if sure else "suspected",
        differential=() if sure else found.differential,
        neighbours=() if sure else found.neighbours,
    )


def _of_data(found: Diagnosis, done: Conclusion) -> Iterator[Refused]:
    """Give the faults of the data itself, where the job died while it read data."""
    errors = [item for item in _errors(found, done) if _group(item, done) == DATA]
    if not errors or not was_seen(done, found) or begun(done.facts):
        return
    passed = tuple(functions(done.given.logs))
    last = tuple(refusing_lines(done.given.logs))[-1:]
    text = READING.in_(done.lang)
    reason = Reason(id="data-at-hand", text=text, weight=AT_HAND, holds=True, evidence=last)
    for item in errors:
        readers = _LOADS if item.rule.startswith(OF_CHECKPOINTS) else _READS_DATA
        if any(map(readers.search, passed)):
            yield Refused(item, (reason,))


def met_its_data(done: Conclusion) -> bool:
    """Tell whether the job died early, in what reads its data or what it goes on from."""
    if begun(done.facts):
        return False
    passed = tuple(functions(done.given.logs))
    return any(reads.search(name) for reads in (_READS_DATA, _LOADS) for name in passed)


def names_its_file(item: Finding, done: Conclusion) -> bool:
    """Tell whether the job refuses something with the name of the file a finding is about."""
    files = {*_FILE.findall(item.message), *_FOLDER.findall(item.message)}
    refused = [line.text for line in refusing_lines(done.given.logs)]
    return any(name in text for name in files for text in refused)


def _errors(found: Diagnosis, done: Conclusion) -> list[Finding]:
    """Give the errors of the launch, first the traps of the shell: the rest may follow of them.

    A trap that only warns by itself goes in place of an error that names its word: mended, both
    are gone.
    """
    errors = [
        item
        for item in found.findings
        if (item.severity == "error" or item.rule == EN_DASH) and item.rule not in ESTIMATED
    ]
    warned = [item for item in found.findings if item.severity == "warning" and item.fix]
    for trap in (item for item in warned if _group(item, done) == SHELL):
        word = _word_at(trap, done)
        followed = [item for item in errors if word and word in item.message]
        if followed:
            errors = [trap, *(item for item in errors if item not in followed)]
    return sorted(errors, key=lambda item: _group(item, done) != SHELL)


def _word_at(item: Finding, done: Conclusion) -> str:
    """Give the word a finding is about, as it stands in its file."""
    line = lines_of(done).line(item.file, item.line)
    return (line[(item.column or 1) - 1 :].split() or [""])[0]


def _group(item: Finding, done: Conclusion) -> str:
    rule = done.loaded.lint.rules.get(item.rule)
    return "" if rule is None else rule.group


def _refused(found: Diagnosis, done: Conclusion) -> Iterator[Refused]:
    """Choose the errors that may be the cause: those the log names, else the first that may be."""
    errors = _errors(found, done)
    if not errors:
        return
    if not was_seen(done, found):
        ahead = Reason(id="not-met-yet", text=NOT_MET.in_(done.lang), weight=AHEAD, holds=True)
        cut = _group(errors[0], done) == SHELL
        roots = (item for item in errors if not cut or _group(item, done) == SHELL)
        yield from (Refused(item, (ahead,)) for item in roots)
        return
    if begun(done.facts):
        return
    errors = [item for item in errors if _group(item, done) != DATA]
    named = list(_named(errors, done))
    yield from named
    if not named:
        yield from (Refused(item, ()) for item in _suspects(errors, found, done)[:1])


def _behind_file(found: Diagnosis, done: Conclusion) -> Diagnosis | None:
    """Let an option where the program takes `name=value` alone lead, where it is refused as said.

    That other releases take it is no help then: they refuse it there as well.
    """
    if begun(done.facts):
        return None
    errors = [item for item in _errors(found, done) if item.rule == BEHIND_FILE]
    item = next(_named(errors, done), None)
    if item is None:
        return None
    lead = cause_of(item, done)
    score = max(lead.score, *(cause.score for cause in found.causes))
    lead = msgspec.structs.replace(lead, score=score)
    return msgspec.structs.replace(found, causes=(lead, *found.causes))


def _mended(found: Diagnosis, done: Conclusion) -> Diagnosis:
    """Give a likely cause the edit against what its own line names: a trap of the shell, a value.

    A value the parser may let pass is only warned of; the program has refused it here. A remedy of
    the cause that writes this argument already stays the one.
    """
    best = found.causes[0]
    written = {
        name for fix in best.fixes for item in fix.changes if item.to for name in _names(item)
    }
    shown = {(at.source, at.line) for reason in best.reasons for at in reason.evidence}
    shell = [item for item in _errors(found, done) if _group(item, done) == SHELL]
    values = (
        item
        for item in found.findings
        if item.rule == WRONG_CHOICE and written.isdisjoint(subject_of(item, lines_of(done)).names)
    )
    errors = [item for item in (*shell, *values) if item.fix is not None]
    for item in _named(errors, done) if not begun(done.facts) else ():
        if any((at.source, at.line) in shown for reason in item.reasons for at in reason.evidence):
            best = with_edit(best, item, done)
            return msgspec.structs.replace(found, causes=(best, *found.causes[1:]))
    return found


def _named(errors: Sequence[Finding], done: Conclusion) -> Iterator[Refused]:
    """Give the errors whose argument or value stands in a refusal of the program."""
    said = tuple(refusing_lines(done.given.logs))
    for item in errors:
        subject = subject_of(item, lines_of(done))
        shown = next((line for line in reversed(said) if subject.stands_in(line.text)), None)
        if shown is not None:
            text = SAID.in_(done.lang)
            reason = Reason(id="refused", text=text, weight=NAMED, holds=True, evidence=(shown,))
            yield Refused(item, (reason,))


def _suspects(errors: Sequence[Finding], found: Diagnosis, done: Conclusion) -> Sequence[Finding]:
    """Give the errors that may be behind a failure, where nothing that was seen says of what it is.

    Its traceback passes what reads arguments, or the user tells so, or text was taken for a number:
    a launch that people show is often cut short, and lacks what their job had. A typographic dash
    changes what arrives, whoever stumbles over it; a log without any failure breaks off where the
    ranks look for each other.
    """
    known = done.knowledge.symptoms
    roots = [known[seen.id] for seen in found.symptoms if seen.echo_of is None]
    told = [entry for entry in roots if entry.role == SAID_BY_USER]
    plain = [entry for entry in roots if not entry.vague and entry not in told]
    if not roots and done.given.logs:
        return [item for item in errors if _group(item, done) == LAYOUT]
    if plain or not any(entry.is_failure for entry in roots):
        return ()
    if any(_AS_TEXT.search(line.text) for line in refusing_lines(done.given.logs)):
        return [item for item in errors if item.rule == WRONG_TYPE]
    reading = any(map(_READS_ARGUMENTS.search, functions(done.given.logs)))
    if reading or any(entry.family == "config_error" for entry in told):
        return errors
    checks = [item for item in errors if _checks(item, done.facts.text("failure.package"), done)]
    # a pasted launch loses continuations and quotes that the real one had; nobody pastes dashes in
    return checks or [item for item in errors if item.rule == EN_DASH]


def _checks(item: Finding, package: str | None, done: Conclusion) -> bool:
    """Tell whether an error is of a check that the package makes in which the job failed."""
    guard = done.knowledge.guards.get(item.rule)
    return guard is not None and guard.package == package


def _covers(cause: CauseOut, item: Refused, done: Conclusion, group: str) -> bool:
    """Tell whether a cause is what an error says: the same check, argument or package."""
    rule = item.finding.rule
    guard = done.knowledge.guards.get(rule)
    if cause.id in (rule, guard.cause if guard is not None else rule):
        return True
    changes = [change for fix in cause.fixes for change in fix.changes]
    if group == VERSIONS:
        packages = set(_PACKAGE.findall(item.finding.message))
        return any(change.kind == "package" and change.param in packages for change in changes)
    names = subject_of(item.finding, lines_of(done)).names
    return group not in (SHELL, DATA) and any(
        not names.isdisjoint(_names(change)) for change in changes
    )


def _names(change: Change) -> set[str]:
    before = (change.from_ or "").split()
    return {plain(change.param), *(plain(word) for word in before if word.startswith("-"))}
