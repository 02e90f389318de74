"""What `rules/lint` may say, and what a lint run is made of."""

# No postponed annotations: as texts they would be compiled one by one when a decoder is made.
from typing import TYPE_CHECKING, Literal

import msgspec

from trainrx.model.findings import Finding
from trainrx.model.hardware import ModelShape
from trainrx.model.parts import Condition, Param, Reference, Relation, Safety
from trainrx.model.text import Text

if TYPE_CHECKING:
    from trainrx.model.levers import Guard

Severity = Literal["error", "warning", "info"]
Group = Literal[
    "arguments",
    "shell",
    "config",
    "layout",
    "environment",
    "versions",
    "memory",
    "time",
    "data",
    "lint",
]
GUARDS = "guards"
"""The group of the rules that are guards of `kb/guards`."""
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


class LintRule(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One lint rule.

    A rule with `when` holds for a launch of which the condition is true; its finding stands where
    the first of `points_at` (facts) does. Otherwise `finder` names the module of
    `trainrx.linter.finders` that looks for it. `message` may hold the finder's values in braces;
    with `when` these are the facts of `points_at`, dots written as `_`. `todo` says with the same
    values what a person is to do where no edit is known. `versions` limits the rule to ranges of
    packages. `fix` says how safe its edits are; None: it proposes none.
    """

    schema: Literal[1]
    id: str
    group: Group
    severity: Severity
    title: Text
    message: Text
    todo: Text | None = None
    summary: Text
    since: str
    updated: str
    references: tuple[Reference, ...]
    finder: str = ""
    when: Condition | None = None
    points_at: tuple[str, ...] = ()
    versions: dict[str, str] = {}
    fix: Safety | None = None
    aliases: tuple[str, ...] = ()


class LintGuard(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What lint takes of a guard."""

    id: str
    package: str
    effect: Literal["reject", "alter", "warn"]
    title: Text
    versions: tuple[str, ...]
    when: Condition
    arguments: tuple[str, ...] = ()


class LintKnowledge(msgspec.Struct, frozen=True, kw_only=True):
    """All that linting takes of what is known; the compiled form of `diagnose lint`."""

    rules: dict[str, LintRule]
    guards: tuple[LintGuard, ...]
    params: dict[str, Param]
    models: tuple[ModelShape, ...]
    relations: dict[str, Relation] = {}
    digest: str = ""


def brief(guard: "Guard", arguments: tuple[str, ...]) -> LintGuard | None:
    """Give what lint takes of a guard; None where a launch alone cannot tell.

    `arguments` are those its condition asks for (`arg.NAME`).
    """
    if guard.when is None:
        return None
    return LintGuard(
        id=guard.id,
        package=guard.package,
        effect=guard.effect,
        title=guard.title,
        versions=guard.versions,
        when=guard.when,
        arguments=arguments,
    )


class LintReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a lint run found.

    `findings` are the worst first. `files` counts what was looked at, `ignored` the findings that
    a comment or the baseline holds back. `unread` are (file, reason) pairs. `texts` are the lines
    the findings stand in, by file and number; `titles` are those of the rules by id.
    """

    findings: tuple[Finding, ...]
    files: int = 0
    ignored: int = 0
    unread: tuple[tuple[str, str], ...] = ()
    texts: dict[str, dict[int, str]] = {}
    titles: dict[str, Text] = {}
