"""Write the skeleton of a new entry: it loads as it is, and tells what is left to fill in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from trainrx.cli import _templates
from trainrx.model import __version__
from trainrx.model.errors import UsageError
from trainrx.model.knowledge import Family, Role

Kind = Literal["cause", "symptom", "guard", "rule", "package", "parameter", "fact", "protocol"]

SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
PACKAGE = re.compile(r"[a-z0-9]+(?:[-._][a-z0-9]+)*")
DOTTED = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)+")
MAX_ID = 80
FAMILIES: tuple[str, ...] = get_args(Family)
ROLES: tuple[str, ...] = tuple(role for role in get_args(Role) if role != "failure")
STAGES = ("derive", "suggest", "explain")
_EXAMPLES: Mapping[Kind, str] = {
    "cause": "oom/activations-exceed-memory",
    "symptom": "hang/nccl-watchdog-timeout",
    "guard": "ms-swift/swift-packing-with-lazy-tokenize",
    "rule": "suggest/enough-memory-but-not-in-one-piece",
    "package": "transformers",
    "parameter": "train.micro_batch",
    "fact": "failure.phase",
    "protocol": "nan-loss",
}
_ROLE_SAYS: Mapping[Role, str] = {
    "failure": "something went wrong here",
    "echo": "only ever the consequence of another failure",
    "context": "tells how the job was set up; this and those below lie in symptoms/<role>",
    "phase": "a stage of the run begins",
    "frame": "a traceback line that says where",
    "success": "the run reached its end",
    "observation": "words of the user (--note)",
}
_SHAPES: Mapping[Kind, re.Pattern[str]] = {
    "package": PACKAGE,
    "parameter": DOTTED,
    "fact": DOTTED,
    "protocol": SLUG,
}
"""Of the kinds that lie in no folder of a family: how they are named."""
_ROLE_NEEDS = {
    "phase": "phase: FILL_IN              # the stage that begins\n",
    "frame": "site: FILL_IN               # where such a traceback line stands\n",
}


class Name(NamedTuple):
    """An id and the folder it goes to: family or role, package, or stage."""

    folder: str
    ident: str


def named(kind: Kind, told: str, folder: str | None) -> Name:
    """Take `folder/id` apart; `folder` is what an option says beside it.

    Raises:
        UsageError: the folder is missing, unknown, or told twice in different words.
    """
    before, _, ident = told.rpartition("/")
    if before and folder and before != folder:
        raise UsageError(f"{told!r} names {before!r}, --family says {folder!r}")
    before = before or folder or ""
    if kind in _SHAPES:
        if before:
            raise UsageError(f"a {kind} has no family; say: kb new {kind} {ident}")
        return Name("", _checked(ident, _SHAPES[kind], kind))
    _known(kind, before, told)
    return Name(before, _checked(ident, SLUG, kind))


def scaffold(kind: Kind, name: Name, kb: Path, rules: Path, today: str) -> tuple[Path, ...]:
    """Write the files of a new entry; give their paths.

    Raises:
        UsageError: the id is taken, or the folder is missing or cannot be written.
    """
    root, option = (rules, "--rules") if kind == "rule" else (kb, "--kb")
    if not root.is_dir():
        raise UsageError(f"{root} is not a folder; give the knowledge folder with {option}")
    parents = {"rule": root, "parameter": root / "params"}
    folder = parents.get(kind, root / f"{kind}s") / name.folder
    files = _files(kind, name, folder, today)
    taken = [path for path in (*files, *root.rglob(f"{name.ident}.yaml")) if path.exists()]
    if taken:
        more = "; add a range to it" if kind == "package" else "; choose another id"
        raise UsageError(f"{taken[0]} exists already{more}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in files.items():
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}") from error
    return tuple(files)


def _files(kind: Kind, name: Name, folder: Path, today: str) -> dict[Path, str]:
    entry, test = _TEMPLATES[kind]
    values = {
        "id": name.ident,
        "folder": name.folder,
        "today": today,
        "version": __version__,
        "role": _role(name.folder).rstrip("\n"),
    }
    files = {folder / f"{name.ident}.yaml": _filled(entry, values)}
    if test:
        files[folder / f"{name.ident}.test.yaml"] = _filled(test, values)
    return files


_TEMPLATES: Mapping[Kind, tuple[str, str]] = {
    "cause": (_templates.CAUSE, _templates.CAUSE_TEST),
    "symptom": (_templates.SYMPTOM, ""),
    "guard": (_templates.GUARD, ""),
    "rule": (_templates.RULE, _templates.RULE_TEST),
    "package": (_templates.PACKAGE, ""),
    "parameter": (_templates.PARAM, ""),
    "fact": (_templates.FACT, ""),
    "protocol": (_templates.PROTOCOL, _templates.PROTOCOL_TEST),
}


def _role(folder: str) -> str:
    if folder in ROLES:
        return f"role: {folder}\n{_ROLE_NEEDS.get(folder, '')}"
    others = "".join(f"# {role}: {said}\n" for role, said in _ROLE_SAYS.items())
    return f"role: failure               # FILL_IN failure | echo\n{others}family: {folder}\n"


def _filled(template: str, values: Mapping[str, str]) -> str:
    for key, value in values.items():
        template = template.replace(f"@{key}@", value)
    return template


def _known(kind: Kind, folder: str, told: str) -> None:
    groups = {"cause": FAMILIES, "symptom": (*FAMILIES, *ROLES), "rule": STAGES}
    known = groups.get(kind)
    word = {"guard": "package", "rule": "stage"}.get(kind, "family")
    if not folder:
        raise UsageError(f"{told!r} names no {word}; write it before the id, as in {_like(kind)}")
    if known is None and not PACKAGE.fullmatch(folder):
        raise UsageError(f"{folder!r} cannot be a package; write it as in {_like(kind)}")
    if known is not None and folder not in known:
        plural = "families" if word == "family" else f"{word}s"
        raise UsageError(f"there is no {word} {folder!r}; the {plural} are {', '.join(known)}")


def _like(kind: Kind) -> str:
    return f"diagnose kb new {kind} {_EXAMPLES[kind]}"


def _checked(ident: str, shape: re.Pattern[str], kind: Kind) -> str:
    joint = "dots" if shape is DOTTED else "dashes"
    if not shape.fullmatch(ident) or len(ident) > MAX_ID:
        raise UsageError(
            f"{ident!r} cannot be an id: use lower-case words joined by {joint}, like "
            f"{_EXAMPLES[kind].rpartition('/')[2]}"
        )
    return ident
