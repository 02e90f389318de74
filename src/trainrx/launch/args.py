"""The words behind a training program to named arguments, and which of them are no ASCII."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

import msgspec

from trainrx.launchers.entries import Cite
from trainrx.model.job import Defect, RawArg, Word
from trainrx.model.pattern import late

_FLAG = late(r"--?[A-Za-z_][\w.-]*(?:=|$)", re.ASCII)
_UNKNOWN_FLAG = late(r"--?[A-Za-z_][\w.-]*=", re.ASCII)
_OVERRIDE = late(r"(?P<sign>\+{0,2}|~)(?P<name>[A-Za-z_@][\w./@-]*)=(?P<value>.*)", re.DOTALL)
_DELETION = late(r"~[A-Za-z_@][\w./@-]*")
_CONFIG = late(r".*\.(?:ya?ml|json)", re.IGNORECASE | re.DOTALL)
Sign = Literal["", "+", "++", "~", "="]
_SIGNS: Mapping[str, Sign] = {"": "", "+": "+", "++": "++", "~": "~"}
_DASHES = late("[–—−―－]+(?=[-A-Za-z])")
_QUOTED = late("[“”＂][^“”＂]*[“”＂]|[‘’＇][^‘’＇]*[‘’＇]")
_MOST_ODD = 20
_MORE_ARGUMENTS = late(r"@|\*|.*(?:ARG|OPT|EXTRA|FLAG|PARAM)S?\w*", re.IGNORECASE)


class Arguments(msgspec.Struct, frozen=True):
    """Named arguments in order, config files, and the words that belong to no flag.

    `complete` is false when a word may stand for further arguments (`$ARGS`, `"$@"`).
    """

    args: tuple[RawArg, ...]
    configs: tuple[str, ...]
    positional: tuple[Word, ...]
    complete: bool = True


class _Open(msgspec.Struct, frozen=True):
    """A flag whose values are being collected."""

    name: str
    word: Word
    values: list[Word]


def read_arguments(
    words: tuple[Word, ...], cite: Cite, *, overrides: bool, bare: Sign = ""
) -> Arguments:
    """Read `--name value value`, `--name=value`, `key=value` and config files.

    Args:
        words: What follows the program and its command.
        cite: Gives the origin of a word.
        overrides: `key=value` is an argument of its own wherever it stands (Hydra, OmegaConf).
        bare: the sign such an argument gets.
    """
    reader = _ArgumentReader(cite, overrides=overrides, bare=bare)
    for word in words:
        reader.add(word)
    reader.close()
    return Arguments(
        tuple(reader.args), tuple(reader.configs), tuple(reader.positional), reader.complete
    )


class _ArgumentReader:
    def __init__(self, cite: Cite, *, overrides: bool, bare: Sign) -> None:
        self.args: list[RawArg] = []
        self.configs: list[str] = []
        self.positional: list[Word] = []
        self.complete = True
        self._cite = cite
        self._overrides = overrides
        self._bare = bare
        self._open: _Open | None = None

    def add(self, word: Word) -> None:
        text = word.text
        # A blank word comes from a backslash followed by a blank and is no value.
        if text and not text.strip():
            return
        if text == "--":
            self.close()
        elif (_UNKNOWN_FLAG if word.unknown else _FLAG).match(text):
            self._flag(word)
        elif self._is_override(word):
            self._override(word)
        elif self._open is not None and not self._is_more(word):
            self._open.values.append(word)
        else:
            self._stray(word)

    def close(self) -> None:
        """Finish the flag that is open."""
        if self._open is None:
            return
        opened, self._open = self._open, None
        name, word, values = opened.name, opened.word, opened.values
        known = not any(value.unknown for value in values)
        texts = tuple(value.text for value in values) if known else None
        alone = values[0] if len(values) == 1 else None
        formula = "" if alone is None else alone.formula
        texts_of = () if alone is None else alone.alternatives
        shown = "" if alone is None else alone.text
        self._keep(name, texts, word, texts_of, formula=formula, shown=shown)

    def _keep(
        self,
        name: str,
        values: tuple[str, ...] | None,
        word: Word,
        alternatives: tuple[str, ...] = (),
        sign: Sign = "",
        formula: str = "",
        shown: str = "",
    ) -> None:
        unknown = values is None
        self.args.append(
            RawArg(
                name=name,
                values=values,
                origin=self._cite(word),
                alternatives=alternatives if unknown else (),
                sign=sign,
                formula=formula if unknown else "",
                shown=shown if unknown else "",
            )
        )
        if name == "config" and values:
            self.configs.append(values[0])

    def _flag(self, word: Word) -> None:
        self.close()
        left, sign, value = word.text.partition("=")
        name = left.lstrip("-").replace("-", "_")
        if sign:
            values = None if word.unknown else (value,)
            texts = _behind(word, left + sign)
            self._keep(name, values, word, texts, formula=word.formula, shown=value)
        else:
            self._open = _Open(name, word, [])

    def _is_override(self, word: Word) -> bool:
        if "=" not in word.text and not word.text.startswith("~"):
            return False
        if not (_OVERRIDE.fullmatch(word.text) or _DELETION.fullmatch(word.text)):
            return False
        return self._overrides or self._open is None

    def _override(self, word: Word) -> None:
        self.close()
        match = _OVERRIDE.fullmatch(word.text)
        if match is None:
            self._keep(word.text, (), word, sign="~")
            return
        sign = _SIGNS[match["sign"]] or self._bare
        name = "~" + match["name"] if sign == "~" else match["name"]
        front = word.text[: match.start("value")]
        values = None if word.unknown else (match["value"],)
        texts, shown = _behind(word, front), match["value"]
        self._keep(name, values, word, texts, sign, word.formula, shown)

    def _is_more(self, word: Word) -> bool:
        """Tell `$EXTRA_ARGS`, which stands for further arguments, from the value of a flag."""
        takes_value = self._open is not None and bool(self._open.values)
        named = any(_MORE_ARGUMENTS.fullmatch(name) for name in word.unknown)
        return bool(word.unknown) and (named and (takes_value or word.text.startswith("$")))

    def _stray(self, word: Word) -> None:
        self.complete = self.complete and not word.unknown
        if not word.unknown and _CONFIG.fullmatch(word.text):
            self.configs.append(word.text)
        elif not word.unknown or not any(_MORE_ARGUMENTS.fullmatch(name) for name in word.unknown):
            self.positional.append(word)


def _behind(word: Word, front: str) -> tuple[str, ...]:
    """Give what the texts a word may have hold behind `--name=`, when all begin with it."""
    if not all(text.startswith(front) for text in word.alternatives):
        return ()
    return tuple(text[len(front) :] for text in word.alternatives)


def odd_characters(words: tuple[Word, ...], cite: Cite) -> tuple[Defect, ...]:
    """Report dashes and quotes of other scripts where a flag or a value begins."""
    found: list[Defect] = []
    for word in words:
        if word.text.isascii() or len(found) >= _MOST_ODD:
            continue
        origin = cite(word)
        name, message = "", ""
        dash = _DASHES.match(word.text)
        if dash:
            name = "en-dash-flag"
            message = f"The flag begins with {dash[0]}, not with ASCII dashes. Type -- instead."
        elif _QUOTED.fullmatch(word.text.rpartition("=")[2]):
            name = "full-width-character"
            code = f"U+{ord(word.text[-1]):04X}"
            message = f"{word.text[-1]} ({code}) is no quote for the shell. Type the ASCII quote."
        if name:
            found.append(
                Defect(
                    id=name,
                    source=origin.source,
                    line=origin.line or 0,
                    text=origin.text,
                    message=message,
                )
            )
    return tuple(found)
