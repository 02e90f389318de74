"""Which rules are wanted, and where that is written: `[tool.trainrx]` or `trainrx.toml`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from trainrx.model.errors import UsageError

FailOn = Literal["error", "warning", "info", "none"]


class Settings(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"
):
    """What a project writes down for lint.

    `select`, `ignore` and `extend_select` name rules by id, by group (shell, guards ...) or `all`.
    `per_file_ignores` maps patterns of file names to rules. `versions` are those the jobs run with.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    per_file_ignores: dict[str, tuple[str, ...]] = {}
    exclude: tuple[str, ...] = ()
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
