"""Files a launch names, where they are at hand: given by the user, or beside the script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from trainrx.model.job import Input, RawLaunch
from trainrx.model.result import Unread

MAX_CONFIG = 4 << 20


def base(name: str) -> str:
    """Give the last part of a path, however its separators are written."""
    return name.replace("\\", "/").rsplit("/", 1)[-1]


def config_texts(
    raw: RawLaunch, given: Sequence[Input], beside: Path | None
) -> tuple[dict[str, str], list[Unread]]:
    """Give the texts of all configs in play by the name the user knows them by."""
    texts = {item.name: item.text or "" for item in given}
    unread: list[Unread] = []
    for named in (*raw.configs, *_deepspeed_files(raw)):
        if any(base(name) == base(named) for name in texts):
            continue
        text = _read_beside(named, beside)
        if text is not None:
            texts[named] = text
        elif named in raw.configs:
            reason = f"{named} is not at hand: add it with --config"
            unread.append(Unread(source=raw.origin.source, line=raw.origin.line, reason=reason))
    return texts, unread


def _deepspeed_files(raw: RawLaunch) -> Iterable[str]:
    for arg in (*raw.args, *raw.launcher):
        if "deepspeed" in arg.name and arg.values and arg.values[0].endswith(".json"):
            yield arg.values[0]


def _read_beside(named: str, beside: Path | None) -> str | None:
    """Read a file the launch names, relative to its script; nothing outside that folder."""
    if beside is None or not named or named.startswith("~") or "\0" in named:
        return None
    root = beside.resolve()
    found = (_read_inside(root / place, root) for place in (named, base(named)))
    return next((text for text in found if text is not None), None)


def _read_inside(path: Path, root: Path) -> str | None:
    try:
        inside = path.resolve().is_relative_to(root)
        if inside and path.is_file() and path.stat().st_size <= MAX_CONFIG:
            return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return None
