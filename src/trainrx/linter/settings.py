"""What a project writes down for lint, and the findings it has put up with."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from trainrx.model.errors import UsageError
from trainrx.model.findings import Finding
from trainrx.sanitizer.redactor import Redactor

FailOn = Literal["error", "warning", "info", "none"]


class Settings(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"
):
    """What a project writes down for lint.

    `select`, `ignore` and `extend_select` name rules by id, by group (shell, guards ...) or `all`.
    `per_file_ignores` maps patterns of file names to rules. `versions` are those the jobs run with.
    `only_launches` passes over files that are named and hold no launch, as over those of a folder.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    per_file_ignores: dict[str, tuple[str, ...]] = {}
    exclude: tuple[str, ...] = ()
    only_launches: bool = False
    fail_on: FailOn | None = None
    versions: dict[str, str] = {}
    gpu: str | None = None
    gpus: int | None = None
    nodes: int | None = None
    baseline: str | None = None
    lang: Literal["en", "zh"] | None = None


def settings_from(table: Mapping[str, object], name: str) -> Settings:
    """Read the table of a settings file.

    Raises:
        UsageError: a key is unknown or its value of another type.
    """
    try:
        return msgspec.convert(table, Settings)
    except msgspec.ValidationError as error:
        known = ", ".join(field.encode_name for field in msgspec.structs.fields(Settings))
        raise UsageError(f"{name}: {error}. Known settings: {known}") from error


def chooser(settings: Settings, known: Mapping[str, str]) -> Callable[[str, str], bool]:
    """Give the test that tells by id and group whether a rule is wanted.

    Args:
        settings: what was selected.
        known: the group of each rule by its id.

    Raises:
        UsageError: a name is neither a rule nor a group.
    """
    groups = set(known.values())
    named = (*settings.select, *settings.ignore, *settings.extend_select)
    for name in named:
        if name not in known and name not in groups and name != "all":
            raise UsageError(_unknown(name, [*known, *groups]))
    wanted = {*(settings.select or ("all",)), *settings.extend_select}
    ignored = set(settings.ignore)

    def chosen(ident: str, group: str) -> bool:
        if ident in ignored or (group in ignored and ident not in wanted):
            return False
        return ident in wanted or group in wanted or "all" in wanted

    return chosen


def _unknown(name: str, known: list[str]) -> str:
    # only a mistake pays for this import
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f": did you mean {' or '.join(near)}?" if near else ""
    return f"there is no rule or group {name!r}{hint} `diagnose lint --list` shows all"


OWN, SHARED = "trainrx.toml", "pyproject.toml"
_MOST_FOLDERS = 40


def find_settings(start: str | Path) -> tuple[Settings, Path | None]:
    """Read the settings file of the nearest folder above that has one, `trainrx.toml` first.

    Raises:
        UsageError: it is no TOML, or holds what no setting is called.
    """
    folder = Path(start).absolute()
    for above in [folder, *folder.parents][:_MOST_FOLDERS]:
        own, shared = above / OWN, above / SHARED
        if own.is_file():
            return read_settings(own), own
        if shared.is_file() and "tool.trainrx" in _text(shared):
            return read_settings(shared), shared
    return Settings(), None


def read_settings(path: str | Path) -> Settings:
    """Read one settings file; of `pyproject.toml` the table `[tool.trainrx]`.

    Raises:
        UsageError: it cannot be read, is no TOML, or holds what no setting is called.
    """
    # only a project with settings pays for this import
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        table = tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: is no TOML: {error}") from error
    if Path(path).name == SHARED:
        table = table.get("tool", {}).get("trainrx", {})
    return settings_from(table, str(path))


def _text(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error


Line = Callable[[str, int | None], str]
"""Gives a line of a file by its number, "" when there is none."""


class Kept(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, order=True):
    """Findings of one rule in lines of one text; lines may move, so their numbers do not count."""

    file: str
    rule: str
    text: str
    count: int = 1


class Baseline(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All findings that were there."""

    version: Literal[1] = 1
    findings: tuple[Kept, ...] = ()


def baseline_of(findings: Iterable[Finding], line: Line) -> str:
    """Write findings down as JSON, in a fixed order."""
    counts = Counter(_kept_as(item, line) for item in findings)
    kept = (Kept(file=f, rule=r, text=t, count=n) for (f, r, t), n in counts.items())
    data = msgspec.json.encode(Baseline(findings=tuple(sorted(kept))))
    return msgspec.json.format(data, indent=2).decode() + "\n"


def read_baseline(text: str, name: str) -> Baseline:
    """Read what `baseline_of` wrote.

    Raises:
        UsageError: it is none.
    """
    try:
        return msgspec.json.decode(text, type=Baseline)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        said = f"{name}: is no baseline ({error}): write one with --write-baseline {name}"
        raise UsageError(said) from error


def new_ones(findings: Iterable[Finding], held: Baseline, line: Line) -> tuple[list[Finding], int]:
    """Leave out what the baseline holds; give what is new and how many were left out."""
    left = Counter({(kept.file, kept.rule, kept.text): kept.count for kept in held.findings})
    fresh: list[Finding] = []
    gone = 0
    for item in findings:
        key = _kept_as(item, line)
        if left[key] > 0:
            left[key] -= 1
            gone += 1
        else:
            fresh.append(item)
    return fresh, gone


def _kept_as(item: Finding, line: Line) -> tuple[str, str, str]:
    # a baseline is committed, secrets must not be
    text = Redactor("secrets").text(" ".join(line(item.file, item.line).split()))
    return item.file.replace("\\", "/"), item.rule, text
