"""What WeCom sends and is sent: AES-256-CBC padded to 32 bytes, signed with SHA-1 over a token.

https://developer.work.weixin.qq.com/document/path/101033
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable

import msgspec
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.padding import PKCS7

from trainrx.model.errors import UsageError

KEY_LENGTH = 43
"""Characters of an EncodingAESKey: 32 bytes in base64, its one `=` left away."""
PADDED_TO = 256
"""Bits: twice the block of AES."""
RANDOM = 16
"""Bytes before the length of what is said."""
FRESH = 300.0
"""Seconds a request may be old, or ahead of the clock here."""


class ForgedError(Exception):
    """A request that is not of WeCom, not for this bot, or not sent just now for the first time."""


class Signed(msgspec.Struct, frozen=True, kw_only=True):
    """How a request is signed, as its address says."""

    signature: str
    timestamp: str
    nonce: str


class Envelope:
    """Opens what WeCom sends to one bot and seals what it is answered.

    Args:
        token: what both sides know and sign with.
        key: the EncodingAESKey.
        receiver: who must be named inside; "" for a smart bot of one's own company.
        now: the time of day, in seconds.

    Raises:
        UsageError: the key is none.
    """

    def __init__(
        self, token: str, key: str, receiver: str = "", now: Callable[[], float] = time.time
    ) -> None:
        try:
            self._key = base64.b64decode(f"{key}=", validate=True)
        except ValueError:
            self._key = b""
        if len(key) != KEY_LENGTH or len(self._key) != 32:
            raise UsageError(f"the EncodingAESKey is not {KEY_LENGTH} letters and digits: copy it")
        self._token, self._receiver, self._now = token, receiver.encode(), now
        self._seen: OrderedDict[tuple[str, str], float] = OrderedDict()

    def signature(self, timestamp: str, nonce: str, encrypted: str) -> str:
        """Sign what is encrypted."""
        joined = "".join(sorted((self._token, timestamp, nonce, encrypted)))
        # the protocol signs with SHA-1
        return hashlib.sha1(joined.encode(), usedforsecurity=False).hexdigest()

    def opened(self, signed: Signed, encrypted: str) -> bytes:
        """Give what a request says.

        Raises:
            ForgedError: it is signed with another token, old, sent before or for somebody else.
        """
        expected = self.signature(signed.timestamp, signed.nonce, encrypted)
        if not hmac.compare_digest(expected.encode(), signed.signature.encode()):
            raise ForgedError("the signature is wrong")
        self._seen_once(signed)
        return self._said(encrypted)

    def sealed(self, said: bytes, timestamp: str, nonce: str) -> dict[str, str | int]:
        """Encrypt and sign an answer."""
        inside = secrets.token_bytes(RANDOM) + len(said).to_bytes(4, "big") + said + self._receiver
        padder = PKCS7(PADDED_TO).padder()
        encryptor = self._cipher().encryptor()
        data = encryptor.update(padder.update(inside) + padder.finalize()) + encryptor.finalize()
        encrypted = base64.b64encode(data).decode()
        return {
            "encrypt": encrypted,
            "msgsignature": self.signature(timestamp, nonce, encrypted),
            "timestamp": int(timestamp),
            "nonce": nonce,
        }

    def decrypted(self, data: bytes) -> bytes:
        """Decrypt a file that somebody attached.

        Raises:
            ForgedError: it is not encrypted with the key of this bot.
        """
        decryptor, unpadder = self._cipher().decryptor(), PKCS7(PADDED_TO).unpadder()
        try:
            padded = decryptor.update(data) + decryptor.finalize()
            return unpadder.update(padded) + unpadder.finalize()
        except ValueError as error:
            raise ForgedError("this is not encrypted with the key of this bot") from error

    def _said(self, encrypted: str) -> bytes:
        try:
            inside = self.decrypted(base64.b64decode(encrypted, validate=True))[RANDOM:]
        except ValueError as error:
            raise ForgedError("this is no base64") from error
        end = 4 + int.from_bytes(inside[:4], "big")
        if inside[end:] != self._receiver:
            raise ForgedError("this is for another receiver")
        return inside[4:end]

    def _seen_once(self, signed: Signed) -> None:
        now = self._now()
        sent = float(signed.timestamp) if signed.timestamp.isdecimal() else 0.0
        if abs(now - sent) > FRESH:
            raise ForgedError("this was not sent just now: is the clock of this machine right?")
        while self._seen and next(iter(self._seen.values())) < now - 2 * FRESH:
            self._seen.popitem(last=False)
        if (signed.timestamp, signed.nonce) in self._seen:
            raise ForgedError("this was sent before")
        self._seen[signed.timestamp, signed.nonce] = now

    def _cipher(self) -> Cipher[modes.CBC]:
        return Cipher(algorithms.AES(self._key), modes.CBC(self._key[:16]))
