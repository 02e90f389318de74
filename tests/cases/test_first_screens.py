"""The screens of what people bring most often at night, each reviewed as text."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

import first_screen
from trainrx import diagnose
from trainrx.knowledge.yaml12 import read_yaml
from trainrx.model.text import Lang, Text
from trainrx.render import render
from trainrx.render.document import View

FOLDER = Path(__file__).parents[1] / "golden" / "screens"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))


class Brought(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What a person has: lines of a log, with the thread they are from, or a sentence."""

    source: str = ""
    log: str = ""
    notes: Text | None = None


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", NAMES)
def test_the_screen_reads_as_it_was_approved(
    name: str, lang: Lang, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    brought = msgspec.convert(read_yaml(FOLDER / f"{name}.yaml"), Brought)
    golden = FOLDER / f"{name}.{lang}.txt"
    monkeypatch.chdir(tmp_path)
    Path("train.log").write_text(brought.log, encoding="utf-8")

    answer = diagnose(
        logs=["train.log"] if brought.log else [],
        note=brought.notes.in_(lang) if brought.notes is not None else "",
        lang=lang,
        top=5,
    )

    text = render(answer, "text", View(lang))
    if os.environ.get("TRAINRX_UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert list(first_screen.mistakes(answer, tmp_path)) == []
    assert text == golden.read_text(encoding="utf-8")
