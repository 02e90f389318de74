"""Secrets that are known by the name they are given to: variables, keys, options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from trainrx.model.pattern import late
from trainrx.sanitizer.tokens import UUID

_ANCHORS = ("pass", "pwd", "secret", "credential", "webhook", "token", "key")
_SAID_ANCHORS = ("secret", "token", "key", "密钥", "令牌", "密码")
_REST = (
    r"(?P<rest>s?(?:[_-]?(?:id|key|access[_-]?key))?(?:[_-][A-Za-z0-9_-]{1,24})?\d{0,2})"
    r"(?![A-Za-z0-9])"
)
_KEY_OF = late(
    r".*(?:api|access|private|account|auth|signing|encryption|license|ssh|app)[_-]?",
    re.DOTALL,
)
_TOKEN_OF = late(
    r".*(?:(?<![a-z])(?:hub|hf|auth|access|api|bearer|refresh|github|gh|git|gitlab|gitee|ms|wandb|"
    r"modelscope|swanlab|comet|neptune|session|login|personal|jwt|ci|bot|deploy|security|service|"
    r"user)[_-]?|(?:^|[^a-z_-])--?)",
    re.DOTALL,
)
_JOINT = (
    r"(?P<joint>['\"\]\\]{0,3}[ \t]{0,3}(?:=>|:=|[=:：])[ \t]{0,3}"
    # a manifest of Kubernetes: the value stands below its name
    r"|['\"]?[ \t]{0,3}\r?\n[ +-]?[ \t]{0,40}['\"]?value['\"]?:[ \t]{1,3}"
    # the next word, of an option only
    r"|['\"]{0,2},?[ \t]{1,3}(?:\\\r?\n[ +-]?[ \t]{0,40})?|['\"],)"
)
_VALUE = (
    r"(?:\\?'(?P<one>[^'\n]{1,1024}?)\\?'|\\?\"(?P<two>[^\"\n]{1,1024}?)\\?\""
    r"|(?P<bare>[^\s'\",;&<>|(){}\[\]$*\\-][^\s'\",;&<>|\\]{3,1024}))"
)
_PAIR = late(
    rf"(?i:pass(?:word|wd|phrase)?|pwd|secret|credential|webhook|token|key){_REST}{_JOINT}{_VALUE}"
)
_NAMED = late(rf"(?i:pass(?:word|wd|phrase)?|pwd|secret|credential|webhook|token|key){_REST}$")
_SAID = late(
    r"(?i:secret|token|key|密钥|令牌|密码)['\"]?"
    r"(?:\s{0,3}[=:：]\s{0,3}|\s{1,3}(?:is|was)\s{1,3}|\s{0,3}[为是]\s{0,3}|\s)['\"]?"
    rf"(?P<bare>{UUID}|[0-9a-f]{{40}}(?![0-9a-zA-Z]))"
)
_NO_SECRET = frozenset(
    {
        "backend",
        "class",
        "classes",
        "count",
        "dir",
        "enabled",
        "env",
        "expire",
        "expires",
        "field",
        "file",
        "files",
        "folder",
        "format",
        "ids",
        "len",
        "length",
        "limit",
        "manager",
        "mode",
        "name",
        "names",
        "num",
        "path",
        "paths",
        "prefix",
        "provider",
        "ref",
        "refs",
        "required",
        "size",
        "store",
        "ttl",
        "type",
        "var",
        "variable",
    }
)
"""Last words of names of things about a secret."""
_STAND_IN = late(
    r"(?i:empty|none|null|true|false|yes|no|on|off|str|string|int|bool|default|optional|required|"
    r"todo|changeme|env|not|set|unset|missing|invalid|is|was|and|or|for|from|in|to|of|the|that|"
    r"this|your\S{0,40}|x{3,99}|\.{3}|…|\*+|<\S{0,60}|error|value|here|token|key|password|secret)"
    r"[.,:!?)。，；]?"
)
_CODE = late(
    r"[A-Za-z_]\w{0,80}(?:\.[A-Za-z_]\w{0,80}){0,8}(?:[(\[].{0,1024}|\.[A-Za-z_]\w{0,80}[)\]]{0,3})"
    r"|[a-z]{1,40}_(?:[a-z]{1,40}_){0,4}(?:token|key|password|secret)[)\]]{0,3}",
    re.DOTALL,
)
_PATH = late(r"(?:~|\.{0,2})/[\w.@+-]{0,80}(?:/[\w.@+-]{0,80}){0,30}")
_RUN = late(r"[A-Za-z0-9]{12,4096}")
_NUMBER = late(r"-?\d{1,20}(?:\.\d{0,20})?(?:e[+-]?\d{1,3})?")
_OPTION = late(r"(?:.*[\s'\"=({\[,])?--?[\w.-]*", re.DOTALL)
_SETTER = late(r".*\b(?:setenv|ENV)\s{1,3}\w*", re.DOTALL)
_BEFORE = 80
_OWNER = 16
"""Characters before a word that are looked at for what it belongs to."""
_MARKER = late(r"[<\[{(].*[>\])}]", re.DOTALL)
_WORD = late(r"[a-z]{1,40}[.,!?]?")


def pairs(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """Give the spans of values whose names say that they are secrets."""
    if len(lowered) != len(text):  # a capital that is two small letters
        lowered = "".join(char.lower() if char.isascii() else char for char in text)
    for anchor in _ANCHORS:
        end = 0
        for at in _places(anchor, lowered):
            match = None if at < end else _PAIR.match(text, at)
            if match is not None and _names_secret(anchor, match, lowered):
                group = match.lastgroup or "bare"
                end = match.end(group)
                if _is_given(match) and _is_secret(match, group):
                    yield match.span(group)
    for anchor in _SAID_ANCHORS:
        for at in _places(anchor, lowered):
            match = _SAID.match(text, at)
            if match is not None:
                yield match.span("bare")


def _places(word: str, text: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def is_secret_name(name: str) -> bool:
    """Tell whether what goes by a name must not be shown."""
    lowered = name.lower()
    for anchor in _ANCHORS:
        for at in _places(anchor, lowered):
            match = _NAMED.match(name, at)
            if match is None or not _names_secret(anchor, match, lowered):
                continue
            vocabulary = anchor == "token" and not match[0].isupper() and _is_vocabulary(match)
            return not vocabulary and not _is_about(match["rest"])
    return False


def _names_secret(anchor: str, match: re.Match[str], lowered: str) -> bool:
    """Tell a name of a secret by what stands before its word: `api_key`, `hub_token`."""
    start = match.start()
    before = lowered[max(0, start - _OWNER) : start]
    if anchor == "key":
        return _KEY_OF.fullmatch(before) is not None
    if anchor == "pass":
        if match.string.startswith("PASS", start) and before.endswith("_"):
            return True
        return lowered.startswith(("passw", "passp"), start)
    if anchor == "token" and match["rest"].lower().endswith(("id", "ids")):
        return False  # of the vocabulary
    if anchor == "token":
        return before.endswith(("_", "-")) or _TOKEN_OF.fullmatch(before) is not None
    return True


def is_stand_in(value: str) -> bool:
    """Tell what stands where a secret will be put from one."""
    return value.startswith(("$", "*", "<")) or _STAND_IN.fullmatch(value) is not None


def looks_random(value: str) -> bool:
    """Tell a key from words: a long run of letters and digits that keep changing."""
    return any(_changes(run) >= 3 for run in _RUN.findall(value))


def _changes(run: str) -> int:
    kinds = ["0" if c.isdigit() else "A" if c.isupper() else "a" for c in run]
    return sum(a != b for a, b in pairwise(kinds))


def _is_about(rest: str | None) -> bool:
    words = re.split(r"[_-]", (rest or "").lower())
    return words[-1] in _NO_SECRET


def _is_given(match: re.Match[str]) -> bool:
    """Tell whether a value is given to the name: behind `=` or `:`, or as the word of an option."""
    if any(sign in match["joint"] for sign in "=:："):
        return True
    before = match.string[max(0, match.start() - _BEFORE) : match.start()]
    return _OPTION.fullmatch(before) is not None or _SETTER.fullmatch(before) is not None


def _is_secret(match: re.Match[str], group: str) -> bool:
    value = match[group]
    if _is_about(match["rest"]) or is_stand_in(value):
        return False
    word = match.string[match.start() : match.start() + 5]
    if word.islower() and word == "token" and _is_vocabulary(match) and not looks_random(value):
        return False
    if word.lower().startswith("pass"):  # may be a word or a number, but no code
        return group != "bare" or not (_CODE.fullmatch(value) and re.search(r"[(\[]", value))
    return not _is_plain(value, group, match)


def _is_vocabulary(match: re.Match[str]) -> bool:
    """Tell a token of a model (`eos_token`) from one that somebody gives out."""
    before = match.string[max(0, match.start() - _OWNER) : match.start()].lower()
    return _TOKEN_OF.fullmatch(before) is None


def _is_plain(value: str, group: str, match: re.Match[str]) -> bool:
    """Tell what stands where a secret might: a number, a path, code, a sentence."""
    if _NUMBER.fullmatch(value) or _MARKER.fullmatch(value) or value.count(" ") > 1:
        return True
    if _PATH.fullmatch(value):
        return not looks_random(value)
    if group != "bare":
        return False
    spoken = match["joint"].endswith(": ") and _WORD.fullmatch(value) is not None
    return spoken or _CODE.fullmatch(value) is not None
