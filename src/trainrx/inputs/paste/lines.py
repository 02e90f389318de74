"""What a single line of a pasted text looks like: how strongly it speaks for each kind of part."""

from __future__ import annotations

import re
from typing import NamedTuple

from trainrx.inputs.paste.signs import (
    BEGINS,
    COMPLAINT,
    FRAME,
    HOLDS,
    MACHINE_NAME,
    NARRATED,
    PERSONAL,
    PRINTED,
    STAMPED,
    SYSTEM,
    Kind,
    Nats,
)
from trainrx.inputs.recognise import COMMAND, KNOWN_KEY, LOG, PROGRAM
from trainrx.model.pattern import late

KINDS: tuple[Kind, ...] = ("prose", "script", "config", "python", "env", "versions", "log")
LONGEST = 2000
"""Characters of a line that are looked at."""
ARGUMENT = late(r"\s--?[A-Za-z]|\.(?:ya?ml|json|sh|py)\b|\s[\w.]+=")
_WORD = late(r"[A-Za-z][a-z']*(?:[-/][A-Za-z]+)*|[A-Z]{2,6}s?|\d{1,4}|[-–—]")
HAN = late(r"[\u3400-\u9fff]")
_SENTENCE = late(r"[.?!。？！；…]\s*$|[:：]\s*$")
_LABEL = late(r"\s*(?:\*\*|#{1,6} )?[^\d\n=]{2,60}[:：](?:\*\*)?\s*$")
_TRAINS = late(
    r"\s*(?:[A-Z_]\w*=\S* +)*(?:\S*/)?(?:swift|megatron|llamafactory-cli|torchrun|deepspeed"
    r"|accelerate launch|trl|axolotl|vllm serve|python[\d.]*(?: -u)? (?:-m )?[\w./-]+(?:\.py)?) +"
    r"(?:\S+ +)?(?:-|\w[\w.]*=|\S+\.(?:ya?ml|json|py)\b)"
)
_COMMON = late(
    r"(?<![\w-])(?:an?|after|all|also|and|any|are|as|at|be|because|been|before|but|by|can|do(?:es)?"
    r"|for|from|gets?|got|had|has|have|how|if|in|into|is|its?|not|of|on|only|or|out|so|than|that"
    r"|the|then|there|this|to|until|use|was|were|when|where|which|while|who|why|will|with|without"
    r"|would)(?![\w-])",
    re.IGNORECASE,
)
"""Words that join others: without them it is a list of names, with two of them a sentence."""
LISTS: tuple[Kind, ...] = ("config", "env", "versions")
SENTENCE, NOT_LISTED = 2.0, 1.0
"""What words say of prose from which on they are a sentence, and of lists that have none."""
LOGGED = 3.0
"""What the signs of a log that tell the kind of a whole file say of a line."""


class LineForm(NamedTuple):
    """How strongly a line speaks for each kind (nats), and what it says of the next line."""

    scores: Nats
    continued: bool = False
    frame: bool = False


NOTHING = LineForm(dict.fromkeys(KINDS, 0.0))


def continues(line: str) -> bool:
    """Tell whether a command goes on behind a line."""
    bare = line.rstrip()
    return bare.endswith("\\") and not bare.endswith("\\\\")


def form(line: str) -> LineForm:
    """Weigh a line of text by itself."""
    text = line[:LONGEST]
    if not text.strip():
        return NOTHING
    score = dict.fromkeys(KINDS, 0.0)
    _by_signs(text, score)
    _as_command(text, score)
    _as_prose(text.strip(), score)
    if KNOWN_KEY.match(text.lstrip()):
        score["config"] += 3.0
    if score["log"] < LOGGED and LOG.search(text):
        score["log"] += LOGGED
    elif "(" in text and PROGRAM.search(text):
        score["python"] += 3.0
    return LineForm(score, continues(line), FRAME.match(text) is not None)


def _by_signs(text: str, score: dict[Kind, float]) -> None:
    for group in BEGINS:
        says = next((nats for pattern, nats in group if pattern.match(text)), {})
        for kind, nats in says.items():
            score[kind] += nats
    low = text.lower()
    for words, sign, weights in HOLDS:
        if any(word in low for word in words) and sign.search(text):
            for kind, more in weights.items():
                score[kind] += more
    if continues(text):
        score["script"] += 3.0


def _as_command(text: str, score: dict[Kind, float]) -> None:
    if not COMMAND.match(text):
        return
    score["script"] += 5.0 if ARGUMENT.search(text) else 1.0
    if _TRAINS.match(text):
        score["script"] += 2.0


def _as_prose(text: str, score: dict[Kind, float]) -> None:
    """Weigh words: Chinese, sentences, labels that end in a colon."""
    han = len(HAN.findall(text))
    tokens = [token.strip(".,;:!?()'\"*`“”‘’") for token in text.split()]
    words = sum(1 for token in tokens if not token or _WORD.fullmatch(token))
    common = len(_COMMON.findall(text))
    said = 0.0
    if han >= 2:
        said = min(4.0, 1.5 + han / 4)
        score["log"] -= 1.0
    elif len(tokens) >= 3 and (words >= 0.7 * len(tokens) or common >= max(2, len(tokens) / 8)):
        said = 2.0 + min(1.0, len(tokens) / 12)
    elif len(tokens) <= 2 and words == len(tokens):
        said = 0.7
    if said and _SENTENCE.search(text):
        said += 1.0
    if words == len(tokens) and score["config"] < 3.0 and _LABEL.match(text):
        said += 1.0
    score["prose"] += _not_printed(text, said, score) if han < 2 else said
    for kind in LISTS if said >= SENTENCE else ():
        score[kind] -= 0.0 if score[kind] else NOT_LISTED


def _not_printed(text: str, said: float, score: dict[Kind, float]) -> float:
    """Give what words say of prose, less where a program may have printed them."""
    if PRINTED.match(text) or STAMPED.match(text) or SYSTEM.match(text):
        return 0.0
    if PERSONAL.search(text):
        return said + 1.0
    if NARRATED.search(text):
        return said
    if MACHINE_NAME.search(text):
        score["log"] += 1.0
        return said * (0.5 if COMPLAINT.search(text) else 0.8)
    return said
