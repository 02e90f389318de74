"""Judge the text an editor holds, with the settings of the project it lies in."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.request import Inputs, request_of
from trainrx.linter.check import Linter
from trainrx.linter.files import LARGEST, SCRIPTS, File, kind_of
from trainrx.linter.job import LintedJob
from trainrx.linter.jobs import RunContext, around
from trainrx.linter.run import groups, jobs_of, report_of
from trainrx.linter.settings import Settings, chooser, find_settings, new_ones, read_baseline
from trainrx.lsp.edited_text import readable
from trainrx.model.errors import UsageError
from trainrx.model.findings import Finding
from trainrx.model.lint import LintReport
from trainrx.model.text import Lang

_LANGUAGES = frozenset({"shellscript", "sh", "bash", "zsh", "slurm", "yaml", "json", "jsonc"})
"""Names editors give to scripts and configurations; other texts (a README) are left alone."""
_CONFIG_LANGUAGES = {"yaml": ".yaml", "json": ".json", "jsonc": ".json"}


class EditorOptions(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What an editor's configuration says; it goes before the project's settings file.

    `versions` is a mapping name to version, a listing (`requirements.txt`) or `name==version`.
    `delay` is how long after a key stroke a text is judged, in seconds.
    """

    lang: Literal["en", "zh"] | None = None
    versions: dict[str, str] | str | None = None
    env: str | None = None
    gpu: str | None = None
    gpus: int | None = None
    nodes: int | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    delay: float = 0.3


def options_from(options: object) -> EditorOptions:
    """Read initialization options; what is missing keeps its default.

    Raises:
        UsageError: a value is of another type.
    """
    try:
        return EditorOptions() if options is None else msgspec.convert(options, EditorOptions)
    except msgspec.ValidationError as error:
        known = ", ".join(field.encode_name for field in msgspec.structs.fields(EditorOptions))
        raise UsageError(f"trainrx: {error}. Known options: {known}") from error


class OpenDocument(NamedTuple):
    """A text as an editor holds it; `path` is None while it has no file."""

    text: str
    path: Path | None
    language: str = ""
    name: str = ""


class LintedDocument(NamedTuple):
    """A text that was judged; `file` is None where it is no launch's."""

    file: File | None
    findings: tuple[Finding, ...]
    linter: Linter
    context: RunContext
    lang: Lang

    def jobs(self) -> tuple[LintedJob, ...]:
        """Give the launches of the text, resolved."""
        return () if self.file is None else tuple(jobs_of(self.file, self.linter, self.context))


class _Frame(NamedTuple):
    linter: Linter
    context: RunContext
    lang: Lang


class Workspace:
    """Settings and knowledge, ready for one text after the other.

    Args:
        lang: language of the messages where neither editor nor project asks for one.
        kb: folders of further knowledge.
        rules: folders of further rules.

    Raises:
        KnowledgeError: a folder of further knowledge is malformed.
    """

    def __init__(self, lang: Lang, kb: Sequence[Path] = (), rules: Sequence[Path] = ()) -> None:
        self._loaded = LoadedKnowledge(kb, rules)
        self.knowledge = self._loaded.lint
        self.folders = (tuple(kb), tuple(rules))
        self.options = EditorOptions()
        self.root: Path | None = None
        self._lang = lang
        self._frames: dict[bytes, _Frame] = {}

    def forget(self) -> None:
        """Read listings and settings anew: files have changed."""
        self._frames.clear()

    def look(self, document: OpenDocument) -> LintedDocument:
        """Judge a text.

        Raises:
            UsageError: the settings that hold for it are no good.
        """
        start = document.path.parent if document.path is not None else self.root
        settings, source = (Settings(), None) if start is None else find_settings(start)
        frame = self._frame(settings, source)
        file = self._file(document, source)
        if file is None or any(_matches(file.name, p) for p in settings.exclude):
            return LintedDocument(None, (), *frame)
        report = report_of([file], frame.linter, frame.context, settings, [])
        return LintedDocument(file, _fresh(report, settings, source), *frame)

    def plain(self, document: OpenDocument) -> LintedDocument:
        """Give a text nothing is said of, because its settings are no good."""
        frame = self._frame(Settings(), None)
        return LintedDocument(self._file(document, None), (), *frame)

    def _file(self, document: OpenDocument, source: Path | None) -> File | None:
        text = readable(document.text)
        if len(text) > LARGEST or not _is_wanted(document, text):
            return None
        path = document.path
        name = document.name if path is None else _name(path, source)
        telling = name + _CONFIG_LANGUAGES.get(document.language, "") if path is None else name
        return File(name, text, kind_of(telling, text), path and path.parent, named=False)

    def _frame(self, settings: Settings, source: Path | None) -> _Frame:
        options = self.options
        held = msgspec.structs.replace(
            settings,
            select=options.select or settings.select,
            ignore=(*settings.ignore, *options.ignore),
            extend_select=(*settings.extend_select, *options.extend_select),
        )
        key = msgspec.json.encode((held, str(source)))
        if key not in self._frames:
            asked: Inputs = {
                "versions": self._versions(),
                "env": self._place(options.env),
                "gpu": options.gpu,
                "gpus": options.gpus,
                "nodes": options.nodes,
            }
            context = around(held, self._loaded, request_of((), asked))
            lang = options.lang or held.lang or self._lang
            linter = Linter(self.knowledge, chooser(held, groups(self.knowledge)), lang)
            self._frames[key] = _Frame(linter, context, lang)
        return self._frames[key]

    def _versions(self) -> Path | dict[str, str] | None:
        given = self.options.versions
        if isinstance(given, str) and "==" in given:
            pairs = (part.partition("==") for part in given.replace(",", " ").split())
            return {name: version for name, _, version in pairs if version}
        return self._place(given) if isinstance(given, str) else given

    def _place(self, name: str | None) -> Path | None:
        """Give a file the editor names: relative to the folder it has open."""
        return None if name is None else (self.root or Path()) / name


def _fresh(report: LintReport, settings: Settings, source: Path | None) -> tuple[Finding, ...]:
    """Leave out what the project's baseline holds, where there is one.

    Raises:
        UsageError: its file is no baseline.
    """
    path = source.parent / settings.baseline if source and settings.baseline else None
    if path is None or not path.is_file():
        return report.findings

    def line(file: str, number: int | None) -> str:
        return report.texts.get(file, {}).get(number or 0, "")

    held = read_baseline(path.read_text(encoding="utf-8", errors="replace"), str(path))
    return tuple(new_ones(report.findings, held, line)[0])


def own(linted: LintedDocument) -> Iterator[Finding]:
    """Give the findings that stand in the text itself, not in a file it names."""
    return (item for item in linted.findings if linted.file and item.file == linted.file.name)


def _is_wanted(document: OpenDocument, text: str) -> bool:
    name = "" if document.path is None else document.path.name.lower()
    script = name.endswith(SCRIPTS) or (text.startswith("#!") and "sh" in text[:40])
    return script or document.language in _LANGUAGES


def _name(path: Path, source: Path | None) -> str:
    """Name a file as `diagnose lint` does when it runs beside the settings file."""
    if source is not None and path.is_relative_to(source.parent):
        return str(path.relative_to(source.parent))
    return str(path)


def _matches(name: str, pattern: str) -> bool:
    return fnmatch(name, pattern) or fnmatch(name.replace(os.sep, "/").rpartition("/")[2], pattern)
