"""An error of lint as a cause: title, reasons with their lines, and what to change."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from trainrx.diagnosis.conclusion import Conclusion, target
from trainrx.fix.plan import plan
from trainrx.launch.files import config_texts
from trainrx.launch.places import found_file, started_in
from trainrx.linter.places import FileLines, apply
from trainrx.model.facts import Origin
from trainrx.model.findings import Edit, Finding
from trainrx.model.knowledge import Cause
from trainrx.model.lint import LintRule
from trainrx.model.result import CauseOut, Change, FixOut, Reason, ReferenceOut
from trainrx.model.text import Text
from trainrx.reason.certainty import LIKELY
from trainrx.reason.score import logit

PRIOR = 0.3
ERROR = 1.52
"""Nats: an error in the launch of a job that died early is suspected, never likely; it goes before
what only says that a newer release mends such failures."""
LINT = Text(
    en="`diagnose lint` has this error in the launch.",
    zh="`diagnose lint` 在启动配置中发现了这个错误。",
)
SHORT = 60
"""Characters of a line that is shown whole."""
OF_DATA = Text(en="A sample of the data has this fault.", zh="抽样读取的数据有这个问题。")
OF_CHECKPOINT = Text(
    en="The checkpoint that the launch names has this fault.",
    zh="启动配置所写的 checkpoint 有这个问题。",
)
MEND = Text(en="{said} ({place})", zh="{said}（{place}）")
WRITE = Text(en="Write {new} ({place})", zh="改成 {new}（{place}）")
WRITE_MORE = Text(en="Write {new} and {n} more ({place})", zh="改成 {new} 等共 {all} 处（{place}）")
TAKE_OUT = Text(en="Take out {old} ({place})", zh="去掉 {old}（{place}）")
OF_CHECKPOINTS = "checkpoint-"
"""What the rules about checkpoints begin with."""


class Refused(NamedTuple):
    """An error of the launch, with what else says that it is the cause."""

    finding: Finding
    reasons: tuple[Reason, ...]

    @property
    def score(self) -> float:
        """Give its log-odds."""
        return logit(PRIOR) + ERROR + math.fsum(reason.weight for reason in self.reasons)


def cause_of(item: Refused, done: Conclusion) -> CauseOut:
    """Make a cause of an error: of a check as the knowledge has it, else of what lint says."""
    entry = _entry(item.finding, done)
    if entry is None:
        base = _from_rule(item.finding, done.loaded.lint.rules.get(item.finding.rule), done)
    else:
        base = _from_entry(entry, done)
    return confirmed(base, item, done)


def confirmed(cause: CauseOut, item: Refused, done: Conclusion) -> CauseOut:
    """Let a cause that says the same have the evidence of an error."""
    score = max(cause.score, round(item.score, 2))
    probability = 1.0 / (1.0 + math.exp(-score))
    return msgspec.structs.replace(
        cause,
        reasons=(*item.reasons, _lint_reason(item.finding, done), *cause.reasons),
        score=score,
        probability=round(probability, 2),
        verdict="likely" if probability >= LIKELY else cause.verdict,
    )


def with_edit(cause: CauseOut, item: Refused, done: Conclusion) -> CauseOut:
    """Put the edit of an error before what else is known to help, and say where it stands."""
    reasons = (*cause.reasons, _lint_reason(item.finding, done))
    return with_remedy(msgspec.structs.replace(cause, reasons=reasons), item, done)


def with_remedy(cause: CauseOut, item: Refused, done: Conclusion) -> CauseOut:
    """Put the edit of an error before what else is known to help, where it has one."""
    if item.finding.fix is None:
        return cause
    return msgspec.structs.replace(cause, fixes=(_remedy(item.finding, done), *cause.fixes))


def lines_of(done: Conclusion, edits: Sequence[Edit] = ()) -> FileLines:
    """Give the lines of the scripts and configurations that were read, or lie beside them.

    Those of files that are to be edited are among them.
    """
    given, launch = done.given, done.launch
    texts = {item.name: item.text or "" for item in (*given.scripts, *given.configs)}
    if launch is None:
        return FileLines(texts)
    beside = given.beside.get(launch.origin.source)
    version = done.versions.get(launch.framework)
    known = {**config_texts(launch, given.configs, beside, version).texts, **texts}
    names = {edit.file for edit in edits} - known.keys()
    if beside is None or not names:
        return FileLines(known)
    start = started_in(launch.workdir, beside)
    more = {name: found_file(name, beside, start=start) for name in names}
    return FileLines({**known, **{name: file.text for name, file in more.items() if file}})


def _entry(finding: Finding, done: Conclusion) -> Cause | None:
    guard = done.knowledge.guards.get(finding.rule)
    return None if guard is None else done.knowledge.causes.get(guard.cause or guard.id)


def _lint_reason(item: Finding, done: Conclusion) -> Reason:
    text = lines_of(done).line(item.file, item.line).strip()
    at = Origin(source=item.file, line=item.line, text=text)
    rule = done.loaded.lint.rules.get(item.rule)
    of_data = rule is not None and rule.group == "data"
    of_checkpoint = item.rule.startswith(OF_CHECKPOINTS)
    said = (OF_CHECKPOINT if of_checkpoint else OF_DATA if of_data else LINT).in_(done.lang)
    return Reason(id="lint-error", text=said, weight=ERROR, holds=True, evidence=(at,))


def _from_entry(entry: Cause, done: Conclusion) -> CauseOut:
    made = plan(entry, target(done))
    return CauseOut(
        id=entry.id,
        title=entry.title.in_(done.lang),
        summary=entry.summary.in_(done.lang).strip(),
        family=entry.family,
        verdict="possible",
        score=logit(PRIOR),
        probability=PRIOR,
        prior=PRIOR,
        fixes=made.fixes,
        already_right=made.already_right,
        not_offered=made.not_offered,
        references=tuple(
            ReferenceOut(url=ref.url, says=ref.says) for ref in entry.references if ref.url
        ),
    )


def _from_rule(finding: Finding, rule: LintRule | None, done: Conclusion) -> CauseOut:
    by_version = rule is not None and rule.group == "versions"
    sources = rule.references if rule is not None else ()
    return CauseOut(
        id=finding.rule,
        title=finding.message,
        summary=rule.summary.in_(done.lang).strip() if rule is not None else "",
        family="version_conflict" if by_version else "config_error",
        verdict="possible",
        score=logit(PRIOR),
        probability=PRIOR,
        prior=PRIOR,
        fixes=(_remedy(finding, done),),
        references=tuple(ReferenceOut(url=ref.url, says=ref.says) for ref in sources if ref.url),
    )


def _remedy(finding: Finding, done: Conclusion) -> FixOut:
    """Give the edits of a finding, else what a person has to do, and where."""
    edits = finding.fix.edits if finding.fix is not None else ()
    at = edits[0] if edits else finding
    place = str(Origin(source=at.file, line=at.line))
    if finding.fix is None:
        said = finding.todo or finding.message
        title = MEND.in_(done.lang).format(place=place, said=said)
        rule = done.loaded.lint.rules.get(finding.rule)
        of_data = rule is not None and rule.group == "data"
        why = rule.summary.in_(done.lang).strip() if rule is not None and of_data else ""
        return FixOut(id=finding.rule, title=title, safety="manual", cost="", steps=why)
    changes = tuple(_changes(finding, lines_of(done, finding.fix.edits)))
    return FixOut(
        id=finding.rule,
        title=_title(changes, place, done),
        safety=finding.fix.safety,
        cost="",
        changes=changes,
    )


def _title(changes: Sequence[Change], place: str, done: Conclusion) -> str:
    """Say what is written, or taken out, where."""
    if not changes:
        return place
    new, old = changes[0].spelled, changes[0].from_ or ""
    form = WRITE if len(changes) == 1 else WRITE_MORE
    if not new or new == old:
        form = TAKE_OUT
    said = {"new": _short(new), "old": _short(old), "n": len(changes) - 1, "all": len(changes)}
    return form.in_(done.lang).format(place=place, **said)


def _short(text: str) -> str:
    return text if len(text) <= SHORT else f"{text[:SHORT].rstrip()}..."


def changed_words(before: str, after: str) -> tuple[str, str]:
    """Give the words of a line that an edit changes, as they were and as they are to be.

    The option in front of a value goes with it. Of an edit that only takes words out, and of a
    short line, the whole line is shown.
    """
    old, new = before.split(), after.split()
    shared = min(len(old), len(new))
    same = next((n for n in range(shared) if old[n] != new[n]), shared)
    rest = shared - same
    pairs = zip(reversed(old), reversed(new), strict=False)
    alike = next((n for n, (a, b) in enumerate(pairs) if a != b), rest)
    alike = min(alike, rest)
    shown = new[same : len(new) - alike]
    if len(after) <= SHORT or not shown:
        return before.strip(), after
    if same and new[same - 1].startswith("-") and not shown[0].startswith("-"):
        same -= 1
    return " ".join(old[same : len(old) - alike]), " ".join(new[same : len(new) - alike])


def _of_lines(
    finding: Finding, edit: Edit, before: Sequence[str], after: Sequence[str]
) -> Iterator[Change]:
    """Give the lines that are new where an edit is of several; a comma more is no difference."""
    held = {line.strip().rstrip(",") for line in before}
    for line in after:
        new = line.strip().rstrip(",")
        if new not in held and new.strip("{}[]"):
            yield Change(
                kind="code",
                param=finding.rule,
                canonical="",
                action="set",
                to=new,
                now="set",
                spelled=new,
                at=Origin(source=edit.file, line=edit.line, text=" ".join(before).strip()),
            )


def _changes(finding: Finding, lines: FileLines) -> Iterator[Change]:
    """Give each line an edit changes, as it stands and as it is to stand."""
    for edit in finding.fix.edits if finding.fix is not None else ():
        last = edit.end_line - (edit.end_column == 1 and edit.end_line > edit.line)
        numbers = range(edit.line, last + 1)
        before = "\n".join(lines.line(edit.file, number) for number in numbers)
        here = msgspec.structs.replace(edit, line=1, end_line=1 + edit.end_line - edit.line)
        after = apply(before, (here,))[0].strip()
        if last > edit.line or "\n" in after:
            yield from _of_lines(finding, edit, before.splitlines(), after.splitlines())
            continue
        old, new = changed_words(before, after)
        yield Change(
            kind="code",
            param=finding.rule,
            canonical="",
            action="set",
            from_=old or None,
            to=new,
            now="set",
            spelled=new,
            at=Origin(source=edit.file, line=edit.line, text=before.strip()),
        )
