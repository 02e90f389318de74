"""What an editor may offer to do about findings, each tried before it is offered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainrx.linter.files import File
from trainrx.linter.finders.script import UNUSED, ignores
from trainrx.linter.mend import MendedFile, mended, tried
from trainrx.linter.places import LineRange, replaced
from trainrx.linter.run import lint_file
from trainrx.lsp.edited_text import EditedText
from trainrx.lsp.workspace import LintedDocument, own
from trainrx.model.findings import Edit, Finding
from trainrx.model.lint import LintKnowledge
from trainrx.model.safety import BY_HAND
from trainrx.model.text import Text

_REPLACE = Text(en="Replace {old} with {new}", zh="将 {old} 改为 {new}")
_FIX = Text(en="Mend: {title}", zh="修正：{title}")
_UNSAFE = Text(en="{said} (changes results)", zh="{said}（会改变训练结果）")
_IGNORE = Text(en="Ignore {rule} here", zh="在此处忽略 {rule}")
_ALL = Text(en="Make all safe fixes of trainrx", zh="执行 trainrx 的全部安全修正")
MOST = 8
"""Findings of a stretch that are looked at: for each some edits are tried on the whole text."""
_LONGEST = 60
"""Characters of a word that a title quotes."""


class EditorAction(NamedTuple):
    """Something to offer; `finding` None: it is about the whole text."""

    title: str
    edits: tuple[Edit, ...]
    finding: Finding | None = None
    preferred: bool = False


def quick_fixes(
    linted: LintedDocument, first: int, last: int, known: LintKnowledge
) -> Iterator[EditorAction]:
    """Give what can be done about the findings in some lines of a text, counted from 1."""
    near = [item for item in own(linted) if first <= (item.line or 1) <= last][:MOST]
    if not near or linted.file is None:
        return
    trial = _Trial(linted.file, linted)
    for item in near:
        yield from _fix(item, trial, known)
    for item in near:
        yield from _ignore(item, trial)


def all_fixes(linted: LintedDocument) -> EditorAction | None:
    """Give all safe fixes of a text as one action; None where there is none to make."""
    if linted.file is None:
        return None
    done = mended(linted.file, linted.linter, linted.context, unsafe=False)
    edits = _difference(linted.file, done.text)
    return EditorAction(_ALL.in_(linted.lang), edits) if edits else None


class _Trial:
    """A text on which edits are tried."""

    def __init__(self, file: File, linted: LintedDocument) -> None:
        self.file = file
        self.lang = linted.lang
        self._linted = linted
        self.found = tuple(lint_file(file, linted.linter, linted.context, [])[0])

    def tried(self, edits: Sequence[Edit]) -> MendedFile | None:
        """Make edits and judge the text again; None where that is no gain."""
        if not edits or any(edit.file != self.file.name for edit in edits):
            return None
        return tried(self.file, self.found, edits, self._linted.linter, self._linted.context)


def _fix(item: Finding, trial: _Trial, known: LintKnowledge) -> Iterator[EditorAction]:
    fix = item.fix
    if fix is None or fix.safety in BY_HAND:
        return
    after = trial.tried(fix.edits)
    if after is None or not _changes_words(trial.file.text, after.text):
        return
    said = _said(item, fix.edits, trial, known)
    safe = fix.safety == "safe"
    title = said if safe else _UNSAFE.in_(trial.lang).format(said=said)
    yield EditorAction(title, fix.edits, item, preferred=safe)


def _said(item: Finding, edits: Sequence[Edit], trial: _Trial, known: LintKnowledge) -> str:
    edit = edits[0]
    if len(edits) == 1 and edit.line == edit.end_line:
        line = trial.file.text.split("\n")[edit.line - 1]
        old = line[edit.column - 1 : edit.end_column - 1]
        if old.strip() and edit.text.strip() and max(len(old), len(edit.text)) <= _LONGEST:
            return _REPLACE.in_(trial.lang).format(old=old, new=edit.text)
    rule = known.rules.get(item.rule)
    title = item.rule if rule is None else rule.title.in_(trial.lang)
    return _FIX.in_(trial.lang).format(title=title)


def _ignore(item: Finding, trial: _Trial) -> Iterator[EditorAction]:
    """Offer the first comment that holds the finding back and does no harm; JSON takes none."""
    if trial.file.kind == "config" and trial.file.text.lstrip()[:1] in ("{", "["):
        return
    before = _count(item.rule, trial.found)
    idle = _count(UNUSED, trial.found)
    for edits in _comments(item, trial.file):
        after = trial.tried(edits)
        if after is None or _count(UNUSED, after.left) > idle:
            continue
        if _count(item.rule, after.left) < before:
            yield EditorAction(_IGNORE.in_(trial.lang).format(rule=item.rule), edits, item)
            return


def _comments(item: Finding, file: File) -> Iterator[tuple[Edit, ...]]:
    """Give ways to write the comment: into one that is there, behind the line, above the command.

    Which of them counts depends on the language of the file and on what the line is a part of.
    """
    lines = file.text.split("\n")
    number = min(item.line or 1, len(lines))
    for comment in ignores(file.name, lines):
        at = comment.at
        if comment.first <= number <= comment.last and at.line and comment.alone:
            text = lines[at.line - 1]
            ids = re.compile(r"(ignore(?:-file)?\s*=\s*[\w-]+(?:\s*,\s*[\w-]+)*)").search(text)
            if ids is not None:
                end = ids.end() + 1
                yield replaced(LineRange(file.name, at.line, end, end), f",{item.rule}")
    line = lines[number - 1].removesuffix("\r")
    said = f"# diagnose: ignore={item.rule}"
    if line.strip() and not line.rstrip().endswith("\\"):
        end = len(line) + 1
        yield replaced(LineRange(file.name, number, end, end), f"  {said}")
    while number > 1 and lines[number - 2].rstrip().endswith("\\"):
        number -= 1
    held = lines[number - 1]
    indent = held[: len(held) - len(held.lstrip())]
    yield replaced(LineRange(file.name, number, 1, 1), f"{indent}{said}\n")


def _count(rule: str, findings: Sequence[Finding]) -> int:
    return sum(other.rule == rule for other in findings)


def _changes_words(before: str, after: str) -> bool:
    """Tell whether more than line ends differ: those are the editor's own business."""
    return before.replace("\r", "") != after.replace("\r", "")


def _difference(file: File, text: str) -> tuple[Edit, ...]:
    """Give one edit that makes the new text of a file, whose line ends stay as they are."""
    old = file.text
    new = text.replace("\n", "\r\n") if "\r\n" in old and "\r" not in text else text
    if not _changes_words(old, new):
        return ()
    start = _shared(old, new)
    behind = _shared(old[start:][::-1], new[start:][::-1])
    stop = len(old) - behind
    (line, column), (end_line, end_column) = map(EditedText(old).counted, (start, stop))
    return (
        Edit(
            file=file.name,
            line=line,
            column=column,
            end_line=end_line,
            end_column=end_column,
            text=new[start : len(new) - behind],
        ),
    )


def _shared(one: str, other: str) -> int:
    """Count the characters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
