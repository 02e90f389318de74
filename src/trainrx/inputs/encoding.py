"""Text out of bytes of any origin: UTF-8, UTF-16 with a mark, GB18030, and torn mixtures."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
ENOUGH = 16
"""Characters beyond ASCII that settle the encoding of a stream."""
TELLING = 4096
"""Bytes from the first one beyond ASCII that are judged together."""
CONTINUATION = bytes(range(0x80, 0xC0))
REPLACED = "\ufffd".encode()
MAGIC = (b"PK\x03\x04", b"\x7fELF", b"\x89PNG", b"\xff\xd8\xff", b"%PDF", b"\x80\x02")
BINARY_SHARE = 0.1
CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\x1b\x08\x07\x0c\0")) + b"\x7f"


def decode_text(data: bytes) -> str:
    r"""Decode a small text whole: no mark, no NUL; torn characters are U+FFFD; `\r` stays."""
    return b"".join(to_utf8([data])).decode("utf-8", "replace").replace("\0", "")


def to_utf8(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Turn a stream into UTF-8 bytes as it comes; what is UTF-8 already passes untouched."""
    stream = iter(chunks)
    first = next(stream, b"")
    for mark, encoding in BOMS:
        if first.startswith(mark):
            rest = _chain(first[len(mark) :], stream)
            yield from rest if encoding == "utf-8" else _recode(rest, encoding)
            return
    yield from _guess(_chain(first, stream))


def _chain(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _recode(chunks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for chunk in chunks:
        yield decoder.decode(chunk).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")


def _guess(chunks: Iterator[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        if chunk.isascii():
            yield chunk
            continue
        pending = _fill(chunk, chunks)
        wrong, right = _census(pending)
        if wrong > right and is_gb18030(pending):
            yield from _recode(_chain(pending, chunks), "gb18030")
            return
        yield pending
        if right >= ENOUGH:
            yield from chunks
            return


def _fill(pending: bytes, chunks: Iterator[bytes]) -> bytes:
    """Take more until there is enough to judge by: a pipe may hand on single bytes."""
    while len(pending) < TELLING and (more := next(chunks, b"")):
        pending += more
    return pending


def _census(data: bytes) -> tuple[int, int]:
    """Count what is not UTF-8 and the characters beyond ASCII that are; torn ends do not count."""
    data = data[:3].lstrip(CONTINUATION) + data[3:]
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(data)
    wrong = text.count("\ufffd") - data.count(REPLACED)
    ascii_count = len(text.encode("ascii", "ignore"))
    return wrong, len(text) - ascii_count - wrong


def is_gb18030(data: bytes) -> bool:
    """Tell whether bytes are whole GB18030 characters, but for one torn at the end."""
    try:
        codecs.getincrementaldecoder("gb18030")().decode(data)
    except UnicodeDecodeError:
        return False
    return True


def looks_binary(head: bytes) -> bool:
    """Tell whether the first bytes of a file are not text of any encoding we read.

    NULs alone do not make a log binary: a log that was truncated while written starts with them.
    """
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return False
    if head.startswith(MAGIC):
        return True
    plain = head.replace(b"\0", b"")
    if not plain:
        return bool(head)
    controls = len(plain) - len(plain.translate(None, CONTROLS))
    if controls > BINARY_SHARE * len(plain):
        return True
    wrong, right = _census(plain)
    return wrong > right and wrong > BINARY_SHARE * len(plain) and not is_gb18030(plain)
