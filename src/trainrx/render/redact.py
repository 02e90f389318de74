"""Mask secrets before an answer is shared; linear-time patterns only."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

import msgspec

from trainrx.model.result import Diagnosis

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
_HINTS = re.compile(
    r"bearer|basic|wandb|hooks\.slack|/bot/v2/hook/|-----begin|token|signature|credential|sig=|key|"
    r"pass|secret|webhook|_pwd|://|hf_|akia|asia|aroa|aida|ltai|akid|sk-|gh[pousr]_|github_pat_|"
    r"glpat-|xox|aiza|ms-|eyj"
)
"""In lower case, it is found in every ASCII text that a pattern above matches."""
_IP = r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])"


def redact(text: str, *, addresses: bool = False) -> str:
    """Mask tokens, keys and passwords; with `addresses` also IPv4 addresses.

    Names stay readable (`HF_TOKEN=***`), so that a reader still sees that one was set.
    """
    if may_hold_secret(text):
        for pattern in _AFTER:
            text = re.sub(pattern, _keep, text)
        for pattern in _WHOLE:
            text = re.sub(pattern, MASK, text)
    return re.sub(_IP, MASK, text) if addresses else text


def may_hold_secret(text: str) -> bool:
    """Tell whether a text must be searched; most values of a launch need not be."""
    if not text.isascii():  # letters that are one to `re` but not to `lower`
        return True
    return _HINTS.search(text.lower()) is not None


def redacted(diagnosis: Diagnosis, *, addresses: bool = False) -> Diagnosis:
    """Mask every text of an answer."""
    return mapped(diagnosis, lambda text: redact(text, addresses=addresses))


def mapped(answer: A, change: Callable[[str], str]) -> A:
    """Apply a function to every text of an answer."""
    return msgspec.convert(_map(msgspec.to_builtins(answer), change), type(answer))


def _map(value: object, change: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _map(item, change) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_map(item, change) for item in value]
    return value


def _keep(match: re.Match[str]) -> str:
    kept = next((text for text in match.groups() if text), "")
    return kept + MASK
