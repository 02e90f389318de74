"""Mails: subject and text are a post, what is attached are inputs of their own."""

from __future__ import annotations

import io
import zipfile
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.inputs.containers import mail
from trainrx.inputs.content import Content, Found
from trainrx.inputs.files import read_stdin

SUBJECT = "OOM when I train Qwen2.5-VL on 8 A100"
BODY = """\
Hello,

my job stops after a few steps. I start it with

swift sft --model Qwen/Qwen2.5-VL-7B-Instruct --train_type lora

What can I do?
--{}
Sender, Institute of Long Signatures
""".format(" ")
LOG = "Traceback (most recent call last):\ntorch.OutOfMemoryError: CUDA out of memory.\n"


def message(text: str = BODY, subtype: str = "plain") -> EmailMessage:
    made = EmailMessage()
    made["From"] = "a@example.org"
    made["To"] = "b@example.org"
    made["Subject"] = SUBJECT
    made.set_content(text, subtype=subtype)
    return made


def read(data: bytes) -> Found:
    found = mail.contained(Content("a.eml", data=data))
    assert found is not None
    return found


def texts(found: Found) -> dict[str, str]:
    return {item.kind: (item.text or "").strip() for item in found[0]}


def test_the_subject_is_said_and_the_text_is_a_post() -> None:
    found = texts(read(message().as_bytes()))

    assert found["note"].startswith(SUBJECT) or SUBJECT in found["note"]
    assert found["script"].startswith("swift sft")
    assert "Signatures" not in found["note"]


def test_a_mail_in_html_says_the_same() -> None:
    markup = (
        "<html><style>p {}</style><p>My job stops.&nbsp;What can I do?</p>"
        "<pre>swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type lora</pre></html>"
    )

    found = texts(read(message(markup, "html").as_bytes()))

    assert "My job stops. What can I do?" in found["note"]
    assert found["script"].startswith("swift sft --model")


def test_what_is_attached_is_read_by_its_content() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("out/env.txt", "PyTorch version: 2.5.1\nOS: Ubuntu 22.04\n")
    made = message()
    made.add_attachment(LOG, filename="train.log")
    made.add_attachment("stage: sft\nfinetuning_type: lora\n", filename="a.yaml")
    made.add_attachment(packed.getvalue(), "application", "zip", filename="run.zip")
    made.add_attachment(b"\x89PNG\r\n", "image", "png", filename="screen.png")

    inputs, unread = read(made.as_bytes())

    kinds = {item.name: item.kind for item in inputs if "!" in item.name}
    assert kinds == {
        "a.eml!train.log": "log",
        "a.eml!a.yaml": "config",
        "a.eml!run.zip!out/env.txt": "versions",
    }
    assert [(item.source, "paste its text" in item.reason) for item in unread] == [
        ("a.eml!screen.png", True)
    ]


def test_a_mail_within_a_mail_is_read() -> None:
    outer = message("Please see below, what is this?\n")
    outer.add_attachment(message())

    assert "script" in texts(read(outer.as_bytes()))


def test_a_quotation_is_read_once() -> None:
    quoted = "".join(f"> {line}\n" for line in BODY.split("\n")[:5])
    again = "".join(f"> {line}" for line in quoted.splitlines(keepends=True))

    found = texts(read(message(f"Any news on this?\n\n{quoted}\n{again}").as_bytes()))

    assert found["script"].count("swift sft") == 1


def test_lines_that_the_mail_program_broke_are_joined() -> None:
    made = message("I run\n\nswift sft --model x \n--train_type lora\n\nwhy does it stop?\n")
    made.set_param("format", "flowed")

    assert "swift sft --model x --train_type lora" in texts(read(made.as_bytes()))["script"]


@pytest.mark.parametrize("charset", ["utf-8", "gb18030", "no-such-charset"])
def test_the_charset_is_that_of_the_mail(charset: str) -> None:
    body = "训练到一半显存不足，请问怎么解决？".encode("utf-8" if "no" in charset else charset)
    head = f"From: a@b\nSubject: x\nContent-Type: text/plain; charset={charset}\n\n"

    assert "训练到一半显存不足" in texts(read(head.encode() + body))["note"]


@pytest.mark.parametrize(
    "text", ["stage: sft\nmodel: x\n", "From: a\nto the end\n", "Subject: a\nTo: b\n\ntext\n", LOG]
)
def test_other_texts_are_no_mails(text: str) -> None:
    assert mail.contained(Content("a", data=text.encode())) is None


def test_a_mail_on_standard_input_is_one() -> None:
    assert "script" in texts(read_stdin(message().as_bytes()))


@given(st.binary(max_size=200), st.integers(0, 600), st.sampled_from(["multipart/mixed", "text/x"]))
def test_whatever_the_bytes_of_a_mail_nothing_is_raised(more: bytes, at: int, kind: str) -> None:
    whole = message().as_bytes()
    head = f"From: a\nSubject: =?utf-8?q?=\nContent-Type: {kind}; boundary=x\n\n--x\n".encode()

    for data in (whole[:at] + more + whole[at:], head + more):
        mail.contained(Content("a.eml", data=data))
