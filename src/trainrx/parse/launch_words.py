"""Words of a launch that hold characters their author took for ASCII."""

from __future__ import annotations

from trainrx.model.job import Defect, Word
from trainrx.model.pattern import late
from trainrx.parse.launchers_front import Cite

_DASHES = late("[–—−―－]+(?=[-A-Za-z])")
_QUOTED = late("[“”＂][^“”＂]*[“”＂]|[‘’＇][^‘’＇]*[‘’＇]")
_MAX = 20


def odd_characters(words: tuple[Word, ...], cite: Cite) -> tuple[Defect, ...]:
    """Report dashes and quotes of other scripts where a flag or a value begins."""
    found: list[Defect] = []
    for word in words:
        if word.text.isascii() or len(found) >= _MAX:
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
