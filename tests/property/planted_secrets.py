"""Secrets in the shapes that are met around training jobs, drawn at random: none is a real one."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Callable
from string import ascii_letters, ascii_uppercase, digits
from typing import NamedTuple

import numpy as np

PLACES = ("launch", "env", "log", "note", "config")
_BASE64 = ascii_letters + digits + "+/"


class Planted(NamedTuple):
    """A secret of some kind, as somebody would have written it."""

    kind: str
    secret: str
    written: str


class Draw:
    """Draws the letters of secrets.

    Args:
        seed: the same one gives the same secrets.
    """

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def of(self, letters: str, count: int) -> str:
        """Draw letters, a digit, a small and a capital one among the first where there are any."""
        drawn = [letters[at] for at in self._rng.integers(len(letters), size=count)]
        for kind in (digits, "abcdef", "ABCDEF"):
            shared = sorted(set(kind) & set(letters))
            at = int(self._rng.integers(1, min(count, 12)))
            if shared and not any(char in kind for char in drawn[:12]):
                drawn[at] = shared[int(self._rng.integers(len(shared)))]
        return "".join(drawn)

    def hex(self, count: int) -> str:
        """Draw hexadecimal digits."""
        return self.of("0123456789abcdef", count)

    def word(self, count: int) -> str:
        """Draw letters and digits."""
        return self.of(ascii_letters + digits, count)

    def uuid(self) -> str:
        """Draw a UUID."""
        return str(uuid.UUID(bytes=self._rng.bytes(16), version=4))


def _jwt(draw: Draw) -> str:
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    return f"{head}.eyJ{draw.word(40)}.{draw.word(43)}"


Kind = tuple[Callable[[Draw], str], tuple[str, ...]]
KINDS: dict[str, Kind] = {
    "hugging-face": (
        lambda d: f"hf_{d.word(34)}",
        ("HF_TOKEN={}", "--hub_token {}", "huggingface-cli login --token {}", "using {}"),
    ),
    "modelscope": (
        lambda d: d.uuid(),
        ("MODELSCOPE_API_TOKEN={}", "--hub_token {}", "modelscope login --token {}"),
    ),
    "modelscope-prefixed": (lambda d: f"ms-{d.uuid()}", ("--hub_token={}", "sdk token {}")),
    "wandb": (
        lambda d: d.hex(40),
        ("WANDB_API_KEY={}", "wandb login {}", "--wandb_api_key={}", "wandb.login(key='{}')"),
    ),
    "wandb-new": (lambda d: f"wandb_v1_{d.word(77)}", ("wandb login {}", "key {} is used")),
    "wandb-uuid": (lambda d: d.uuid(), ("WANDB_API_KEY={}", "--wandb_api_key {}")),
    "swanlab": (
        lambda d: d.word(21),
        ("SWANLAB_API_KEY={}", "swanlab login -k {}", "--swanlab_token {}"),
    ),
    "openai": (
        lambda d: f"sk-proj-{d.word(48)}",
        ("OPENAI_API_KEY={}", "--api_key {}", "Incorrect API key provided: {}"),
    ),
    "anthropic": (lambda d: f"sk-ant-api03-{d.word(80)}", ("ANTHROPIC_API_KEY={}", "got {}")),
    "dashscope": (lambda d: f"sk-{d.hex(32)}", ("DASHSCOPE_API_KEY={}", "--vllm_api_key {}")),
    "aws": (
        lambda d: f"AKIA{d.of(ascii_uppercase + '234567', 16)}",
        ("AWS_ACCESS_KEY_ID={}", "credential {} expired"),
    ),
    "aws-secret": (
        lambda d: d.of(_BASE64, 40),
        ("AWS_SECRET_ACCESS_KEY={}", "aws_secret_access_key: {}"),
    ),
    "google": (lambda d: f"AIza{d.of(ascii_letters + digits + '_', 35)}", ("key={}", "with {}")),
    "azure": (
        lambda d: f"{d.of(_BASE64, 86)}==",
        ("AZURE_CONN=AccountName=a;AccountKey={};", "--account_key {}"),
    ),
    "aliyun": (
        lambda d: f"LTAI{d.word(20)}",
        ("OSS_ACCESS_KEY_ID={}", "accessKeyId: {}", "ossutil config -i {}"),
    ),
    "aliyun-secret": (
        lambda d: d.word(30),
        ("OSS_ACCESS_KEY_SECRET={}", "accessKeySecret: {}", "--oss_secret {}"),
    ),
    "tencent": (lambda d: f"AKID{d.word(32)}", ("TENCENTCLOUD_SECRET_ID={}", "by {}")),
    "volcengine": (lambda d: f"AKLT{d.word(43)}", ("VOLC_ACCESSKEY={}", "signed with {}")),
    "github": (
        lambda d: f"ghp_{d.word(36)}",
        ("GITHUB_TOKEN={}", "git clone https://{}@github.com/a/b", "remote said {}"),
    ),
    "gitlab": (lambda d: f"glpat-{d.word(20)}", ("CI_JOB_TOKEN={}", "--git_token {}")),
    "chat-webhook": (
        lambda d: d.uuid(),
        (
            "curl https://open.feishu.cn/open-apis/bot/v2/hook/{}",
            "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={}",
        ),
    ),
    "dingtalk": (
        lambda d: d.hex(64),
        ("https://oapi.dingtalk.com/robot/send?access_token={}", "ding SEC{}"),
    ),
    "slack": (
        lambda d: f"xoxb-{d.of(digits, 12)}-{d.word(24)}",
        ("SLACK_BOT_TOKEN={}", "slack says {}"),
    ),
    "jwt": (_jwt, ("Authorization: Bearer {}", "COMET_API_KEY={}", "cookie was {}")),
    "password": (
        lambda d: f"{d.word(9)}!{d.word(4)}",
        ("redis://default:{}@10.1.2.3:6379/0", "--redis_password {}", "DB_PASSWORD={}"),
    ),
    "private-key": (
        lambda d: d.of(_BASE64, 64),
        ("-----BEGIN PRIVATE KEY-----{}", "SSH_PRIVATE_KEY={}"),
    ),
    "signed-url": (
        lambda d: d.of(_BASE64.replace("+", "").replace("/", ""), 28),
        (
            "https://b.oss-cn-hangzhou.aliyuncs.com/a.jsonl?Expires=1&Signature={}",
            "https://b.s3.amazonaws.com/a?X-Amz-Credential=a&X-Amz-Signature={}",
        ),
    ),
}


def planted(count: int, seed: int = 20261126) -> list[Planted]:
    """Draw so many secrets, of one kind after the other, each way of writing in turn."""
    draw = Draw(seed)
    out = []
    for number in range(count):
        kind = list(KINDS)[number % len(KINDS)]
        make, ways = KINDS[kind]
        secret = make(draw)
        way = ways[number // len(KINDS) % len(ways)]
        out.append(Planted(kind, secret, way.format(secret)))
    return out
