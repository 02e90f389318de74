"""Which DeepSpeed configuration a launch is to name, and the one written where none fits."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping
from typing import NamedTuple

from trainrx.fix.patch import presets
from trainrx.fix.patch.configs import base
from trainrx.launch.config_kinds import classify_config


class Staged(NamedTuple):
    """The value to set (None: what is set means the same), and the new file it needs."""

    value: str | None
    name: str = ""
    text: str | None = None


def staged(
    value: str, present: str | None, source: str, texts: Mapping[str, str], taken: Collection[str]
) -> Staged:
    """Give the value that names a stage as this launch can name it.

    Args:
        value: as the speller has it: a preset of the framework, or the path of a file.
        present: the value it has now.
        source: the name of the launch's script or configuration.
        texts: configurations at hand.
        taken: names of further files.
    """
    if not presets.takes_file(value):
        return Staged(value)
    kind = presets.means(value, {})
    if present is not None and kind is not None and presets.means(present, texts) == kind:
        return Staged(None)
    for name, text in texts.items():
        if classify_config(text) == "deepspeed" and presets.means(name, {name: text}) == kind:
            return Staged(_beside(present, name))
    if kind is None or any(base(name) == base(value) for name in texts):
        return Staged(value)
    if present is not None and posixpath.dirname(present) == posixpath.dirname(value) != "":
        # the framework's own folder of configurations is in use already
        return Staged(value)
    return _new(value, kind, present, source, texts, taken)


def _new(
    value: str,
    kind: str,
    present: str | None,
    source: str,
    texts: Mapping[str, str],
    taken: Collection[str],
) -> Staged:
    held = next((n for n in texts if present and base(n) == base(present)), None)
    text = presets.preset_text(kind, texts[held] if held else None)
    if text is None:
        return Staged(value)
    folder = posixpath.dirname(held or source)
    name = presets.free_name(folder, kind, {*taken, *texts})
    return Staged(_beside(present if held else None, base(name)), name, text)


def _beside(present: str | None, name: str) -> str:
    """Name a file of the same folder the way the present one is named."""
    folder = posixpath.dirname(present) if present and presets.takes_file(present) else ""
    return posixpath.join(folder, base(name)) if folder else name
