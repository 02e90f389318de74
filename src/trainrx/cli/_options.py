"""Options that several commands take."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from trainrx.model.text import Lang


class LangName(str, Enum):
    """The languages there are."""

    en = "en"
    zh = "zh"


LangOption = Annotated[
    LangName | None,
    typer.Option("--lang", help="Language of the answer; default from LC_ALL, LC_MESSAGES, LANG."),
]
KbOption = Annotated[
    list[Path] | None,
    typer.Option("--kb", metavar="DIR", help="More knowledge, laid out like kb/; may be repeated."),
]
RulesOption = Annotated[
    list[Path] | None,
    typer.Option("--rules", metavar="DIR", help="More rules; may be repeated."),
]
WidthOption = Annotated[
    int | None,
    typer.Option("--width", min=20, max=1000, hidden=True, help="Columns of the text."),
]


def language(name: LangName | None) -> Lang | None:
    """Give the language asked for, or None to take it from the environment."""
    if name is None:
        return None
    return "zh" if name is LangName.zh else "en"
