"""`lint()`: what is wrong with launches, before they run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec.msgpack import decode, encode

from trainrx.inputs.config import read_config
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.find import find_launches
from trainrx.launch.request import Request
from trainrx.linter.check import Linter, worst_first
from trainrx.linter.files import LARGEST, LEAST_FOR_TWO, File, lint_files, matches_any
from trainrx.linter.finders.syntax import not_valid
from trainrx.linter.job import LintedJob, Page
from trainrx.linter.jobs import RunContext, around, config_launch, settle_job
from trainrx.linter.places import FileLines
from trainrx.linter.settings import Settings, chooser
from trainrx.model.findings import Finding
from trainrx.model.job import RawLaunch, Script
from trainrx.model.lint import GUARDS, LintKnowledge, LintReport
from trainrx.model.progress import advance, begin
from trainrx.shell import read_script

OF_DATA = "data-"
"""What the rules about data begin with."""
NO_LAUNCH = "holds no training command that is known here"


def lint(
    request: Request, loaded: LoadedKnowledge, *, settings: Settings | None = None
) -> LintReport:
    """Find what is wrong with the launches in some files, the worst first.

    Args:
        request: what is asked; its scripts and configurations are judged.
        loaded: the knowledge it names.
        settings: which rules are wanted; all when None.

    Raises:
        UsageError: a path or a rule that is named does not exist.
        KnowledgeError: a folder of further knowledge is malformed.
    """
    held = settings or Settings()
    linter = Linter(loaded.lint, chooser(held, groups(loaded.lint)), request.lang)
    unread: list[tuple[str, str]] = []
    paths = (*request.paths, *request.cmd, *request.config)
    files = lint_files(paths, request.stdin, held.exclude, unread, only_launches=held.only_launches)
    return report_of(files, linter, around(held, loaded, request), held, unread)


def report_of(
    files: Iterable[File],
    linter: Linter,
    beside: RunContext,
    settings: Settings,
    unread: list[tuple[str, str]],
) -> LintReport:
    """Judge files that were read already; `unread` takes what nothing could be said of."""
    held = list(files)
    begin("checking", len(held))
    if len(held) < LEAST_FOR_TWO:
        parts = [_part(held, linter, beside, settings)]
    else:
        from trainrx.linter.files import shared_out

        said = shared_out(held, lambda s: encode(_part(s, linter, beside, settings)))
        parts = [decode(data, type=LintReport) for data in said]
    texts: dict[str, dict[int, str]] = {}
    for part in parts:
        unread += part.unread
        for name, lines in part.texts.items():
            texts.setdefault(name, {}).update(lines)
    return LintReport(
        findings=worst_first([item for part in parts for item in part.findings]),
        files=len({file.name for file in held}),
        ignored=sum(part.ignored for part in parts),
        unread=tuple(unread),
        texts=texts,
    )


def _part(
    files: Iterable[File], linter: Linter, beside: RunContext, settings: Settings
) -> LintReport:
    found: list[Finding] = []
    unread: list[tuple[str, str]] = []
    texts: dict[str, dict[int, str]] = {}
    ignored = 0
    for file in files:
        own, gone = lint_file(file, linter, beside, unread)
        own = [item for item in own if not _is_left_out(item, settings.per_file_ignores)]
        ignored += gone
        found += own
        _keep_lines(own, file, texts)
        advance()
    return LintReport(findings=tuple(found), ignored=ignored, unread=tuple(unread), texts=texts)


def lint_file(
    file: File, linter: Linter, beside: RunContext, unread: list[tuple[str, str]]
) -> tuple[list[Finding], int]:
    """Judge one file; give its findings and how many its comments hold back."""
    found = list(
        _of_config(file, linter, beside, unread)
        if file.kind == "config"
        else _of_script(file, linter, beside, unread)
    )
    if "diagnose:" not in file.text:
        return found, 0
    from trainrx.linter.finders.script import held_back, ignores, unused

    comments = ignores(file.name, file.text.split("\n"))
    if not comments:
        return found, 0
    kept, gone, idle = held_back(found, comments)
    kept += (item for hit in unused(idle) if (item := linter.finding(hit)) is not None)
    return kept, gone


def jobs_of(file: File, linter: Linter, beside: RunContext) -> Iterator[LintedJob]:
    """Give the launches of one file, as they are judged."""
    config = config_launch(file) if file.kind == "config" else None
    launches = (config,) if config is not None else launches_in(file, beside)[1]
    for raw in launches:
        own = None if config is None else file
        yield settle_job(raw, linter, beside, {file.name: file.text}, file.folder, config=own)


def groups(knowledge: LintKnowledge) -> dict[str, str]:
    """Give the group of each rule by its id; guards are rules of a group of their own."""
    own = {rule.id: rule.group for rule in knowledge.rules.values()}
    return {guard.id: GUARDS for guard in knowledge.guards} | own


def _of_script(
    file: File, linter: Linter, beside: RunContext, unread: list[tuple[str, str]]
) -> Iterator[Finding]:
    script, launches = launches_in(file, beside)
    if not launches and file.named:
        unread.append((file.name, NO_LAUNCH))
    texts = {file.name: file.text}
    if launches and script is not None and script.commands:
        yield from linter.page(Page(script, launches, FileLines(texts)))
    for raw in launches:
        yield from linter.job(settle_job(raw, linter, beside, texts, file.folder))


def launches_in(file: File, beside: RunContext) -> tuple[Script | None, tuple[RawLaunch, ...]]:
    """Read the launches of a script or a manifest."""
    launches = _launches_of_manifest(file, beside)
    if not launches and file.kind == "script" and "import " in file.text:
        launches = _launches_of_program(file)
    if file.kind == "config" or launches:
        return None, launches
    script = read_script(file.text, file.name, beside.variables)
    found = find_launches(script)
    if ".py" in file.text or " -m " in file.text:
        from trainrx.launch.programs import joined, training_programs

        trains = training_programs(script, beside.programs, file.folder)
        found = find_launches(script, trains=trains) if trains else found
        found = tuple(joined(found, beside.programs, file.folder))
    return script, tuple(msgspec.structs.replace(one, written=script.written) for one in found)


def _launches_of_program(file: File) -> tuple[RawLaunch, ...]:
    """Read the launches of a Python program."""
    from trainrx.launch.python_source import is_program, read_program

    return read_program(file.text, file.name) if is_program(file.text) else ()


def _launches_of_manifest(file: File, beside: RunContext) -> tuple[RawLaunch, ...]:
    """Read the containers of a Kubernetes manifest or compose file."""
    if not any(word in file.text for word in ("apiVersion", "services:", "\nrun:")):
        return ()
    from trainrx.inputs.recognise import is_manifest

    if not is_manifest(file.text):
        return ()
    from trainrx.launch.scripts import script_launches
    from trainrx.model.job import Input

    item = Input(kind="script", name=file.name, text=file.text)
    return tuple(script_launches(item, beside.variables)[0])


def _of_config(
    file: File, linter: Linter, beside: RunContext, unread: list[tuple[str, str]]
) -> Iterator[Finding]:
    idle = True
    for job in jobs_of(file, linter, beside):
        idle = False
        yield from linter.job(job)
    if not (idle and file.named):
        return
    broken = [*not_valid(read_config(file.text, file.name)[1])]
    yield from filter(None, map(linter.finding, broken))
    if not broken:
        unread.append((file.name, "holds no setting that implies a training command"))


def _is_left_out(item: Finding, patterns: Mapping[str, tuple[str, ...]]) -> bool:
    return matches_any(item.file, [p for p, rules in patterns.items() if item.rule in rules])


def _keep_lines(found: Iterable[Finding], file: File, texts: dict[str, dict[int, str]]) -> None:
    """Keep the lines findings stand in, for showing them."""
    lines: list[str] | None = None
    for item in found:
        if item.line is None or _is_of_data(item, file):
            continue
        if item.file == file.name:
            lines = file.text.split("\n") if lines is None else lines
            held = lines[item.line - 1] if item.line <= len(lines) else ""
        else:
            held = _line_of(item.file, item.line, file.folder)
        texts.setdefault(item.file, {})[item.line] = held.removesuffix("\r")


def _is_of_data(item: Finding, file: File) -> bool:
    """Tell a line of the data, which is nobody's to show, from one of the launch."""
    return item.rule.startswith(OF_DATA) and item.file != file.name


def _line_of(name: str, number: int, folder: Path | None) -> str:
    """Read a line of a file the script names, where it lies beside it."""
    places = (Path(name), folder / name) if folder else (Path(name),)
    texts = (_small_text(place) for place in places)
    lines = next((text for text in texts if text is not None), "").split("\n")
    return lines[number - 1] if number <= len(lines) else ""


def _small_text(path: Path) -> str | None:
    try:
        if path.is_file() and path.stat().st_size < LARGEST:
            return path.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return None
    return None
