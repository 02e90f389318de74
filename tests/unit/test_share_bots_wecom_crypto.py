"""Requests of WeCom are opened as published; what is forged, old or sent again is refused."""

from __future__ import annotations

import pytest

from trainrx.model.errors import UsageError
from trainrx.share.bots._wecom_crypto import Envelope, ForgedError, Signed

# the example of the vendor's documentation and of its sample programs
# https://developer.work.weixin.qq.com/document/path/90307
SHARED = "QDG6eK"
KEY = "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C"
COMPANY = "wx5823bf96d3bd56c7"
SIGNED = Signed(
    signature="477715d11cdb4164915debcba66cb864d751f3e6",
    timestamp="1409659813",
    nonce="1372623149",
)
ENCRYPTED = (
    "RypEvHKD8QQKFhvQ6QleEB4J58tiPdvo+rtK1I9qca6aM/wvqnLSV5zEPeusUiX5L5X/0lWfrf0QADHHhGd3Qczc"
    "dCUpj911L3vg3W/sYYvuJTs3TUUkSUXxaccAS0qhxchrRYt66wiSpGLYL42aM6A8dTT+6k4aSknmPj48kzJs8qLj"
    "vd4Xgpue06DOdnLxAUHzM6+kDZ+HMZfJYuR+LtwGc2hgf5gsijff0ekUNXZiqATP7PF5mZxZ3Izoun1s4zG4LUMn"
    "vw2r+KqCKIw+3IQH03v+BCA9nMELNqbSf6tiWSrXJB3LAVGUcallcrw8V2t9EL4EhzJWrQUax5wLVMNS0+rUPA3k"
    "22Ncx4XXZS9o0MBH27Bo6BpNelZpS+/uh9KsNlY6bHCmJU9p8g7m3fVKn28H3KDYA5Pl/T8Z1ptDAVe0lXdQ2Yoy"
    "yH2uyPIGHBZZIs2pDBS8R07+qN+E7Q=="
)


def _envelope(receiver: str = COMPANY, at: float = 1409659813.0, shared: str = SHARED) -> Envelope:
    return Envelope(shared, KEY, receiver, now=lambda: at)


def test_the_documented_example_of_the_vendor_is_opened() -> None:
    said = _envelope().opened(SIGNED, ENCRYPTED).decode()

    assert said.startswith("<xml><ToUserName><![CDATA[wx5823bf96d3bd56c7]]></ToUserName>")
    assert "<Content><![CDATA[hello]]></Content>" in said
    assert said.endswith("<AgentID>218</AgentID>\n</xml>")


@pytest.mark.parametrize(
    ("envelope", "signed", "encrypted", "why"),
    [
        (_envelope(shared="other"), SIGNED, ENCRYPTED, "signature"),
        (_envelope(), SIGNED, ENCRYPTED.replace("R", "S", 1), "signature"),
        (_envelope(), Signed(signature="", timestamp="", nonce=""), "", "signature"),
        (_envelope(), Signed(signature="é", timestamp="1", nonce="2"), "x", "signature"),
        (_envelope(at=1409659813.0 + 301), SIGNED, ENCRYPTED, "just now"),
        (_envelope(at=1409659813.0 - 301), SIGNED, ENCRYPTED, "just now"),
        (_envelope(receiver="other"), SIGNED, ENCRYPTED, "another receiver"),
        (_envelope(receiver=""), SIGNED, ENCRYPTED, "another receiver"),
    ],
)
def test_what_is_forged_old_or_for_another_is_refused(
    envelope: Envelope, signed: Signed, encrypted: str, why: str
) -> None:
    with pytest.raises(ForgedError, match=why):
        envelope.opened(signed, encrypted)


def test_a_request_that_is_sent_again_is_refused() -> None:
    envelope = _envelope()

    envelope.opened(SIGNED, ENCRYPTED)

    with pytest.raises(ForgedError, match="before"):
        envelope.opened(SIGNED, ENCRYPTED)


@pytest.mark.parametrize("said", [b"", b"x", b"\x00" * 31, "日志".encode() * 5000])
def test_what_is_sealed_is_opened_again(said: bytes) -> None:
    sealed = _envelope("").sealed(said, "1409659813", "nonce")

    signed = Signed(signature=str(sealed["msgsignature"]), timestamp="1409659813", nonce="nonce")

    assert _envelope("").opened(signed, str(sealed["encrypt"])) == said


def test_signed_rubbish_is_refused_and_never_raises_anything_else() -> None:
    for rubbish in ("", "x", "eA==", "A" * 64, "é"):
        signed = Signed(
            signature=_envelope().signature("1409659813", "n", rubbish),
            timestamp="1409659813",
            nonce="n",
        )

        with pytest.raises(ForgedError):
            _envelope().opened(signed, rubbish)


@pytest.mark.parametrize("key", ["", KEY[:-1], KEY + "A", "!" * 43])
def test_a_key_that_is_none_is_told(key: str) -> None:
    with pytest.raises(UsageError, match="EncodingAESKey"):
        Envelope(SHARED, key)
