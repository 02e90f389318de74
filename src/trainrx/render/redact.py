"""Mask secrets before an answer is shared; linear-time patterns only."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

import msgspec

from trainrx.model.pattern import late

A = TypeVar("A", bound=msgspec.Struct)

MASK = "***"
_NAME = (
    r"(?:(?i:[a-z0-9_.-]{0,40}(?:password|passwd|passphrase|secret|credential|api[_-]?key|"
    r"access[_-]?key(?:[_-]?id)?|private[_-]?key|webhook)[a-z0-9_]{0,20}|"
    r"(?:[a-z0-9_.-]{0,40}[_-])?(?:hub|hf|auth|access|api|bearer|refresh|github|gh|gitlab|"
    r"modelscope|ms|wandb|swanlab|comet|session|login|personal|jwt|ci)[_-]?token)|"
    r"[A-Z0-9_]{0,40}_(?:TOKEN|PWD|PASS))"
)
_VALUE = r"(?:'[^'\n]{1,4096}'|\"[^\"\n]{1,4096}\"|(?![-<$*])[^\s'\",;&]{4,4096})"
_WHOLE = (
    r"\bhf_[A-Za-z0-9]{16,}",
    r"\b(?:wandb_v\d_)[A-Za-z0-9_]{20,}",
    r"\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}\b",
    r"\bLTAI[A-Za-z0-9]{12,30}",
    r"\bAKID[A-Za-z0-9]{13,40}",
    r"\bsk-[A-Za-z0-9_-]{20,}",
    r"\bgh[pousr]_[A-Za-z0-9]{20,}",
    r"\bgithub_pat_[A-Za-z0-9_]{20,}",
    r"\bglpat-[A-Za-z0-9_-]{16,}",
    r"\bxox[abeprs]-[A-Za-z0-9-]{10,}",
    r"\bAIza[A-Za-z0-9_-]{35}",
    r"\bms-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}",
)
_AFTER = (
    # user:password@ in a URL
    r"(?P<keep>\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://)[^\s/@:'\"]{0,256}(?::[^\s/@'\"]{0,256})?(?=@)",
    # signed URLs
    r"(?i:(?P<keep2>[?&](?:[a-z_-]{0,30}(?:token|signature|credential)|sig|key)=))[^&\s'\"]{1,4096}",
    r"(?i:(?P<keep3>\b(?:bearer|basic|token)[ ]))[A-Za-z0-9._~+/=-]{16,4096}",
    r"(?P<keep4>hooks\.slack\.com/services/|/bot/v2/hook/)[A-Za-z0-9/_-]{8,256}",
    r"(?i:(?P<keep5>\bwandb[ ]login[ ](?:--relogin[ ])?))[A-Za-z0-9_-]{16,256}",
    r"(?P<keep6>-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----).{0,8192}",
    # NAME=value, "name": "value"; --name value
    rf"(?P<keep7>(?<![A-Za-z0-9_]){_NAME}['\"]?\s{{0,3}}[=:]\s{{0,3}}){_VALUE}",
    rf"(?P<keep8>(?<![A-Za-z0-9_-])--?{_NAME}[ ]{{1,3}}){_VALUE}",
)
_HINTS = late(
    r"bearer|basic|wandb|hooks\.slack|/bot/v2/hook/|-----begin|token|signature|credential|sig=|key|"
    r"pass|secret|webhook|_pwd|://|hf_|akia|asia|aroa|aida|ltai|akid|sk-|gh[pousr]_|github_pat_|"
    r"glpat-|xox|aiza|ms-|eyj"
)
"""In lower case, it is found in every ASCII text that a pattern above matches."""
_PROBE = "a1b2c3d4e5f6"
_VALUES = ("value", "text", "values", "alternatives")
_OWN_WORDS = frozenset(
    {
        "topic",
        "via",
        "how",
        "canonical",
        "package",
        "version_how",
        "id",
        "verdict",
        "schema_version",
    }
)
"""Fields that hold no text of a job."""
SHORTEST = 6
"""No secret is shorter; most values are, and need no look."""


def redact(text: str) -> str:
    """Mask tokens, keys and passwords.

    Names stay readable (`HF_TOKEN=***`), so that a reader still sees that one was set.
    """
    if may_hold_secret(text):
        for pattern in _AFTER:
            text = re.sub(pattern, _keep, text)
        for pattern in _WHOLE:
            text = re.sub(pattern, MASK, text)
    return text


def may_hold_secret(text: str) -> bool:
    """Tell whether a text must be searched; most values of a launch need not be."""
    if not text.isascii():  # letters that are one to `re` but not to `lower`
        return True
    return _HINTS.search(text.lower()) is not None


def masked(answer: A) -> A:
    """Mask every text of an answer; a value goes by the name it stands under, too.

    What is no UTF-8 becomes a question mark.
    """
    return msgspec.convert(_map(msgspec.to_builtins(answer)), type(answer))


def sound(answer: A) -> A:
    """Replace what is no UTF-8 in every text of an answer."""
    return msgspec.convert(_map(msgspec.to_builtins(answer), _sound), type(answer))


def _map(node: object, change: Callable[[str], str] | None = None) -> object:
    if isinstance(node, str):
        return change(node) if change else _text(node)
    if isinstance(node, (list, tuple)):
        return [_map(item, change) for item in node]
    if not isinstance(node, dict):
        return node
    if change:
        return {key: _map(item, change) for key, item in node.items()}
    hidden = any(_is_text(node.get(key)) for key in _VALUES) and _is_secret(
        str(node.get("name", ""))
    )
    return {
        key: item if key in _OWN_WORDS else _hide(item) if hidden and key in _VALUES else _map(item)
        for key, item in node.items()
    }


@lru_cache(maxsize=4096)
def _text(text: str) -> str:
    text = _sound(text)
    return redact(text) if len(text) >= SHORTEST else text


def _sound(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _is_text(value: object) -> bool:
    return bool(value) and isinstance(value, (str, list, tuple))


@lru_cache(maxsize=4096)
def _is_secret(name: str) -> bool:
    return MASK in redact(f"{name}={_PROBE}")


def _hide(value: object) -> object:
    if isinstance(value, (list, tuple)):
        return [MASK for _ in value]
    return MASK if value not in (None, "", True, False) else value


def _keep(match: re.Match[str]) -> str:
    kept = next((text for text in match.groups() if text), "")
    return kept + MASK
