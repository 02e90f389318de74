"""What an editor shows of the word under the pointer: the rule that found it, or what it means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from trainrx.catalog.catalog import KnownArgument, catalog, plain
from trainrx.catalog.spellbook import Spellbook
from trainrx.knowledge.load import find_entry
from trainrx.knowledge.store import Entry
from trainrx.linter.job import LintedJob
from trainrx.lsp.edited_text import EditedText
from trainrx.lsp.workspace import LintedDocument, own
from trainrx.model.catalog import Value
from trainrx.model.findings import Finding
from trainrx.model.parts import Param
from trainrx.model.text import Lang, Text
from trainrx.reason.phrasing import scalar
from trainrx.render import words
from trainrx.render.document import View
from trainrx.render.explain import explained
from trainrx.render.formats.text import page
from trainrx.render.layout import Line, Styled
from trainrx.sanitizer import media
from trainrx.sanitizer.assignments import is_secret_name

_WORD = re.compile(r"-{0,2}[+~]{0,2}[A-Za-z_][\w.@/-]*")
_TYPE = Text(en="takes", zh="类型")
_ONE_OF = Text(en="one of", zh="可选值")
_HERE = Text(en="here {value}", zh="此处为 {value}")
_NOT_TAKEN = Text(en="not taken by {command}", zh="{command} 没有该参数")
_MOST_CHOICES = 24
_WIDTH = 100
_MARKS = re.compile(r"([\\`*_\[\]<>#|~]|^[-+])")


class HoverText(NamedTuple):
    """Lines to show, and the stretch of the text they are about."""

    lines: tuple[Line, ...]
    start: int
    stop: int


def hover(
    linted: LintedDocument,
    edited: EditedText,
    offset: int,
    folders: tuple[Sequence[Path], Sequence[Path]],
) -> HoverText | None:
    """Explain what stands at an offset; None where nothing is known of it.

    Args:
        linted: the judged text.
        edited: the same text.
        offset: where the pointer is.
        folders: further knowledge and rules.
    """
    at = [(item, *span(item, edited)) for item in own(linted)]
    hit = [found for found in at if found[1] <= offset <= found[2]]
    if hit:
        pages = [_rule(item.rule, linted.lang, folders) for item in _each(f[0] for f in hit)]
        start, stop = min(f[1] for f in hit), max(f[2] for f in hit)
        return HoverText(tuple(_joined(pages)), start, stop)
    word = next((m for m in _WORD.finditer(*_line(edited, offset)) if m.end() >= offset), None)
    if word is None or word.start() > offset:
        return None
    lines = tuple(_about(linted, edited, word))
    return HoverText(lines, word.start(), word.end()) if lines else None


def span(item: Finding, edited: EditedText) -> tuple[int, int]:
    """Give the stretch a finding is about; its whole line where it names no column."""
    line = item.line or 1
    start = edited.offset(line, item.column or 1)
    if item.column is not None and item.end_column is not None:
        return start, max(edited.offset(line, item.end_column), start)
    first, last = _line(edited, start)[1:]
    held = edited.text[first:last]
    if item.column is None:
        start = first + len(held) - len(held.lstrip())
    return start, max(first + len(held.rstrip()), start)


def as_markdown(lines: Iterable[Line]) -> str:
    """Write lines as Markdown that looks like the page of a terminal, line by line."""
    said = []
    for line in lines:
        text = "".join(_marked(part) for part in line).rstrip()
        bare = text.lstrip(" ")
        said.append("&nbsp;" * (len(text) - len(bare)) + bare if bare else "")
    return "\n".join(f"{text}  " if text else "" for text in said).strip() + "\n"


def _marked(part: Styled) -> str:
    part = part._replace(text=media.terminal(part.text))
    text = part.text.strip()
    if not text:
        return part.text
    lead = part.text[: len(part.text) - len(part.text.lstrip())]
    trail = part.text[len(part.text.rstrip()) :]
    if part.style == "fix" and "`" not in text:
        return f"{lead}`{text}`{trail}"
    if text.startswith(("http://", "https://")):
        return f"{lead}<{text}>{trail}"
    held = _MARKS.sub(r"\\\1", text)
    return f"{lead}**{held}**{trail}" if part.style in ("head", "strong") else lead + held + trail


def _each(items: Iterable[Finding]) -> Iterator[Finding]:
    return iter({item.rule: item for item in items}.values())


def _line(edited: EditedText, offset: int) -> tuple[str, int, int]:
    text = edited.text
    stop = text.find("\n", offset)
    return text, text.rfind("\n", 0, offset) + 1, len(text) if stop < 0 else stop


def _rule(rule: str, lang: Lang, folders: tuple[Sequence[Path], Sequence[Path]]) -> list[Line]:
    entry, _ = find_entry(rule, *folders)
    return [] if entry is None else _page(entry, lang)


def _page(entry: Entry, lang: Lang) -> list[Line]:
    view = View(lang, _WIDTH, everything=True)
    return page(explained(entry, view), view)


def _joined(pages: Iterable[list[Line]]) -> Iterator[Line]:
    for index, lines in enumerate(pages):
        if index:
            yield ()
        yield from lines


def _about(linted: LintedDocument, edited: EditedText, word: re.Match[str]) -> Iterator[Line]:
    """Say what an argument or a variable is: its default at this release, and what it means."""
    line, _ = edited.counted(word.start())
    job = _job_at(linted.jobs(), line)
    behind = edited.text[word.end() : word.end() + 1]
    name = word[0]
    if job is None or not (name.startswith("--") or behind in ("=", ":", '"', "'")):
        return
    variable = behind == "=" and name.isupper()
    known = None if variable else _known(job, name.lstrip("+~"))
    book = Spellbook(job.params, job.launch.framework, job.versions)
    meant = _param(book, name, job, variable=variable)
    if known is not None:
        yield from _taken(known, name, job, linted.lang)
    elif meant is not None and not variable and job.judged():
        said = _NOT_TAKEN.in_(linted.lang).format(command=_command(job))
        yield (Styled(name, "fix"), Styled(f"  {said}", "dim"))
    if meant is not None:
        yield from ([()] if known is not None else [])
        own_names = {owner: meant.spelled[owner] for owner in book.owners if owner in meant.spelled}
        held = msgspec.structs.replace(meant, spelled=own_names)
        yield from _page(held, linted.lang)


def _job_at(jobs: Sequence[LintedJob], line: int) -> LintedJob | None:
    """Give the launch a line belongs to: the last that begins above it, or the first."""
    above = [job for job in jobs if (job.launch.origin.line or 1) <= line]
    return above[-1] if above else next(iter(jobs), None)


def _known(job: LintedJob, name: str) -> KnownArgument | None:
    taken = job.taken()
    found = taken.get(name)
    return found if found is not None or "." not in name else taken.nested(name)


def _param(book: Spellbook, name: str, job: LintedJob, *, variable: bool) -> Param | None:
    found = book.find(plain(name), "env" if variable else "arg", job.launch.command)
    live = [entry for entry in found if book.live(entry)]
    return next((entry.param for entry in (*live, *found)), None)


def _taken(known: KnownArgument, name: str, job: LintedJob, lang: Lang) -> Iterator[Line]:
    releases = "" if job.certain else catalog(job.launch.framework).describe(known.releases)
    yield (Styled(name, "fix"), Styled(f"  {_command(job)} {releases}".rstrip(), "dim"))
    said = []
    if known.type and not (known.choices and known.type == "Literal"):
        said.append(f"{_TYPE.in_(lang)} {known.type}")
    default = _default(known)
    if default:
        said.append(f"{words.DEFAULT.in_(lang)} {default}")
    if known.choices:
        listed = " | ".join(str(choice) for choice in known.choices[:_MOST_CHOICES])
        said.append(f"{_ONE_OF.in_(lang)} {listed}")
    here = job.resolved.arguments.get(known.name)
    if here is not None and here.known and here.via != "default" and not is_secret_name(known.name):
        said.append(_HERE.in_(lang).format(value=_shown(here.value)))
    if said:
        yield (Styled(words.COMMA.in_(lang).join(said)),)


def _default(known: KnownArgument) -> str:
    value = known.default
    if not known.settled or (isinstance(value, dict) and "required" in value):
        return ""
    return f"`{value['expr']}`" if isinstance(value, dict) and "expr" in value else _shown(value)


def _shown(value: Value) -> str:
    if isinstance(value, list):
        return " ".join(str(part) for part in value) or "[]"
    return "None" if value is None else str(value) if isinstance(value, dict) else scalar(value)


def _command(job: LintedJob) -> str:
    version = job.version if job.certain and job.version else ""
    return " ".join(filter(None, (job.launch.framework, version, job.launch.command)))
