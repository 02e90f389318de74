"""Secrets that are known by their own shape, wherever they stand.

The shapes are those the issuers publish; gitleaks, detect-secrets and GitHub's scanner agree on
most. Nothing is repeated without bound, so that a search takes linear time.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from trainrx.model.pattern import late

UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
_MIXED = r"(?=[A-Za-z]{0,64}[0-9]|[a-z]{0,64}[A-Z])"
"""Not a word alone: a digit or a capital stands in it."""


class Shape(NamedTuple):
    """A kind of secret.

    Attributes:
        kind: who issues it.
        needles: each match holds one of these, in lower case; none: always looked for.
        pattern: the group `secret`, or else the whole match, is what must not be shown.
    """

    kind: str
    needles: tuple[str, ...]
    pattern: re.Pattern[str]


def _shape(kind: str, needles: str, *patterns: str) -> Shape:
    return Shape(kind, tuple(needles.split()), late("|".join(patterns)))


SHAPES = (
    _shape(
        "hugging-face",
        "hf_ api_org_",
        rf"hf_(?<!\whf_){_MIXED}[A-Za-z0-9]{{16,128}}",
        rf"api_org_{_MIXED}[A-Za-z0-9]{{16,128}}",
    ),
    _shape("modelscope", "ms-", rf"ms-(?<!\wms-){UUID}"),
    _shape("wandb", "wandb_v", rf"\bwandb_v\d{{1,2}}_{_MIXED}[A-Za-z0-9_-]{{20,256}}"),
    _shape("openai", "sk-", r"sk-(?<!\wsk-)(?=[a-zA-Z_-]{0,64}[0-9A-Z])[A-Za-z0-9_-]{20,256}"),
    _shape(
        "model-provider",
        "gsk_ xai- nvapi- r8_ pplx- pcsk_ lsv2_ dapi esecret_ fw_ csk- tgp_v1_ bce-v3",
        r"\b(?:gsk_|xai-|nvapi-|r8_|pplx-|pcsk_|lsv2_|dapi|esecret_|fw_|csk-|tgp_v1_|bce-v3/)"
        rf"{_MIXED}[A-Za-z0-9_/-]{{20,256}}",
    ),
    _shape("aws", "akia asia aroa aida abia", r"\b(?:AKIA|ASIA|AROA|AIDA|ABIA)[A-Z0-9]{16}\b"),
    _shape(
        "aliyun",
        "ltai sts.",
        rf"\bLTAI{_MIXED}[A-Za-z0-9]{{12,30}}",
        r"\bSTS\.[A-Za-z0-9]{16,64}",
    ),
    _shape("tencent", "akid", rf"\bAKID{_MIXED}[A-Za-z0-9]{{13,64}}"),
    _shape("volcengine", "aklt", rf"\bAKLT{_MIXED}[A-Za-z0-9+/_-]{{16,96}}={{0,2}}"),
    _shape("google", "aiza ya29. gocspx-", r"\b(?:AIza|ya29\.|GOCSPX-)[A-Za-z0-9_-]{20,256}"),
    _shape(
        "azure",
        "8q~ accountkey=",
        r"(?<=AccountKey=)[A-Za-z0-9+/]{40,100}={0,2}",
        r"\b[A-Za-z0-9_~.-]{3}8Q~[A-Za-z0-9_~.-]{31,34}",
    ),
    _shape(
        "github",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        r"\bgh[pousr]_[A-Za-z0-9]{20,255}",
        r"\bgithub_pat_[A-Za-z0-9_]{20,255}",
    ),
    _shape(
        "gitlab",
        "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glsoat-",
        r"\bgl(?:pat|dt|rt|cbt|ptt|ft|imt|soat)-[A-Za-z0-9_.-]{16,256}",
    ),
    _shape(
        "atlassian", "atatt3x atctt3x atbb", r"\b(?:ATATT3x|ATCTT3x|ATBB)[A-Za-z0-9_=-]{20,256}"
    ),
    _shape("package-index", "pypi- npm_", r"\b(?:pypi-[A-Za-z0-9_-]{40,512}|npm_[A-Za-z0-9]{36})"),
    _shape("slack", "xox xapp-", r"\b(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,256}"),
    _shape("dingtalk", "sec", r"SEC(?<!\wSEC)[0-9a-f]{64}\b"),
    _shape("telegram", ":aa", r"(?<![0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b"),
    _shape(
        "mail-and-payment",
        "sg. k_live_ sct",
        r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}",
        r"\b[sr]k_live_[A-Za-z0-9]{16,99}",
        r"\bSCT[0-9]{1,9}T[A-Za-z0-9]{16,64}",
    ),
    _shape(
        "vault",
        "hvs. hvb. dp.pt. age-secret-key-",
        r"\b(?:hvs|hvb|dp\.pt)\.[A-Za-z0-9_-]{20,256}",
        r"\bAGE-SECRET-KEY-1[A-Z0-9]{40,80}",
    ),
    # one of neptune is JSON in base64 without a dot: its first key is api_address
    _shape(
        "jwt",
        "eyj",
        r"\beyJ[A-Za-z0-9_-]{10,2048}(?:\.[A-Za-z0-9_-]{5,4096}){1,2}",
        r"\beyJhcGlfYWRkcmVzcyI6[A-Za-z0-9_-]{20,1024}",
    ),
    _shape(
        "private-key",
        "-----begin",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?P<secret>[^-]{1,8192})",
    ),
    # its last line, and any other, quoted without its head
    _shape(
        "private-key-end",
        "-----end",
        r"(?P<secret>[A-Za-z0-9+/]{1,76}={0,2})\s{1,4}-----END [A-Z0-9 ]{0,40}PRIVATE KEY",
    ),
    _shape(
        "private-key-line",
        "",
        r"(?m)^[ +-]?(?P<secret>(?=[A-Za-z0-9+/]{64}\r?$)(?=[A-Za-z+/]{0,63}[0-9])"
        r"(?=[A-Z0-9+/]{0,63}[a-z])(?=[a-z0-9+/]{0,63}[A-Z])[A-Za-z0-9+/]{64})",
    ),
)
