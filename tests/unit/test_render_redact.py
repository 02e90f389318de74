from __future__ import annotations

import re
import time

import diagnoses
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from trainrx.render.redact import _AFTER, _WHOLE, MASK, masked, may_hold_secret, redact

HEX40 = "0123456789abcdef0123456789abcdef01234567"
# put together here so that no scanner takes them for real ones
HF = "hf_" + "abcdEFGHijklMNOPqrstuvWXyz"
AWS = "AKIA" + "ABCDEFGHIJKLMNOP"
GITHUB = "ghp_" + "a1B2" * 9


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f"export HF_TOKEN={HF}", "export HF_TOKEN=***"),
        (f"huggingface-cli login {HF}", "huggingface-cli login ***"),
        (f"WANDB_API_KEY={HEX40}", "WANDB_API_KEY=***"),
        (f"wandb login --relogin {HEX40}", "wandb login --relogin ***"),
        (f"key {AWS} used", "key *** used"),
        ("AWS_SECRET_ACCESS_KEY='ab/cd ef'", "AWS_SECRET_ACCESS_KEY=***"),
        ("git clone https://me:pa55@host/x.git", "git clone https://***@host/x.git"),
        (f"https://{GITHUB}@github.com/a/b", "https://***@github.com/a/b"),
        ("Authorization: Bearer abcdefghijklmnop.qrs", "Authorization: Bearer ***"),
        ("--hub_token secretvalue --lr 1", "--hub_token *** --lr 1"),
        ("--api-key=secretvalue", "--api-key=***"),
        ('{"api_key": "abcd"}', '{"api_key": ***}'),
        ("password: hunter22", "password: ***"),
        ("https://x/robot/send?access_token=abcd&a=1", "https://x/robot/send?access_token=***&a=1"),
        ("https://s3/x?X-Amz-Signature=abcd", "https://s3/x?X-Amz-Signature=***"),
        ("https://hooks.slack.com/services/T0/B0/xyzxyz", "https://hooks.slack.com/services/***"),
        ("-----BEGIN RSA PRIVATE KEY-----MIIEow", "-----BEGIN RSA PRIVATE KEY-----***"),
    ],
)
def test_a_secret_is_masked_and_its_name_kept(text, wanted):
    assert redact(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "--max_tokens 2048 --max_new_tokens 512",
        "eos_token: <|im_end|> pad_token: 151643",
        "tokens per second: 12345678",
        f"commit {HEX40}",
        "HF_TOKEN=$HF_TOKEN",
        "HF_ENDPOINT=https://hf-mirror.com",
        "git@github.com:modelscope/ms-swift.git",
        "the secret sauce is good",
        "KeyError: 'api_key'",
        "MASTER_ADDR=10.0.0.1",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.27 GiB.",
        "--per_device_train_batch_size 1",
    ],
)
def test_what_is_no_secret_stays(text):
    assert redact(text) == text


def test_every_text_of_an_answer_is_masked():
    answer = diagnoses.oom()
    leaky = msgspec.structs.replace(
        answer,
        warnings=(f"see {HF}",),
        facts={"train.output_dir": f"s3://me:{HF}@bucket", "train.micro_batch": 1},
    )

    safe = masked(leaky)

    assert safe.warnings == (f"see {MASK}",)
    assert safe.facts == {"train.output_dir": "s3://***@bucket", "train.micro_batch": 1}
    assert msgspec.structs.replace(safe, warnings=(), facts=answer.facts) == answer


@given(st.text(max_size=300))
def test_masking_twice_changes_nothing_more(text):
    once = redact(text)

    assert redact(once) == once


@pytest.mark.parametrize("piece", ["a_", "hf_", "://", "a:", "?token=", "-x", "secret", "eyJ", " "])
def test_masking_takes_linear_time(piece):
    start = time.perf_counter()

    redact(piece * 20_000)

    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("pattern", [*_WHOLE, *_AFTER])
@examples(30)
@given(data=st.data())
def test_no_text_is_passed_over_that_a_pattern_matches(pattern, data):
    text = data.draw(st.from_regex(re.compile(pattern, re.ASCII)))

    assert may_hold_secret(text) or re.search(pattern, text) is None
