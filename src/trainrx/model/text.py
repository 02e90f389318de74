"""Text in the two languages every entry is written in."""

# No postponed annotations: as texts they would be compiled one by one when a decoder is made.
from collections.abc import Mapping
from typing import Literal

import msgspec

Lang = Literal["en", "zh"]


class Text(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The same words in English and Chinese, each written by hand."""

    en: str
    zh: str

    def in_(self, lang: Lang) -> str:
        """Give the words in one language."""
        return self.zh if lang == "zh" else self.en


FREE = "None."
"""What an entry says in English of a remedy that costs nothing."""


def price_text(cost: Text, lang: Lang) -> str:
    """Say a price; "" where there is none, which is nothing to be told."""
    return "" if cost.en == FREE else cost.in_(lang)


def language(environment: Mapping[str, str]) -> Lang:
    """Choose the language as POSIX does: LC_ALL, then LC_MESSAGES, then LANG."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = environment.get(name, "")
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"
