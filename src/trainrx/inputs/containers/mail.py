"""A mail (.eml): its subject and words are a post, what is attached are inputs.

Line 1 of the post is the subject, line 3 the first of the text, as a reader sees them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainrx.inputs.archives import is_archive, members
from trainrx.inputs.budget import ReadingBudget
from trainrx.inputs.containers import read_member
from trainrx.inputs.content import PICTURE, Content, Found
from trainrx.inputs.encoding import decode_text
from trainrx.model.findings import Unread
from trainrx.model.job import Input
from trainrx.model.pattern import late

if TYPE_CHECKING:
    from email.message import EmailMessage, MIMEPart

CERTAIN = True
HEADER = late(
    r"(?:From [^\n]{1,200}\n)?(?:[A-Z][A-Za-z0-9-]{1,60}:[^\n]{0,2000}\n(?:[ \t][^\n]*\n)*)+"
)
SENDER = late(r"(?m)^From:")
MAIL = late(r"(?mi)^(?:Subject|Message-ID|MIME-Version|Received):")
QUOTED = late(r"\s{0,3}(?:> ?)+")
TELLING = 12
"""Characters of a quoted line from which on it is the same when it stands again."""
SIGNATURE = late(r"(?m)^-- ?$(?:\n[^\n]*){0,12}\Z")
HIDDEN = ("script", "style", "title")
BREAKS = ("br", "p", "div", "tr", "li", "pre", "blockquote", "table", "h1", "h2", "h3")
LARGEST = 1 << 26


def contained(content: Content) -> Found | None:
    """Take a mail apart; None where a content is none."""
    header = HEADER.match(content.head.replace("\r\n", "\n"))
    if header is None or not SENDER.search(header[0]) or not MAIL.search(header[0]):
        return None
    # takes 30 ms to import, and hardly anything that is given is a mail
    from email import message_from_bytes, policy

    unread: list[Unread] = []
    try:
        message = message_from_bytes(content.data[:LARGEST], policy=policy.default)
        parts = list(_parts(message, content, unread))
    except (LookupError, ValueError, AttributeError, TypeError, RecursionError) as error:
        # what the standard library raises of headers that no mail may have
        reason = f"is a mail that is damaged: {type(error).__name__}"
        return [], [Unread(source=content.name, reason=reason)]
    inputs: list[Input] = []
    for part, pasted in parts:
        found, more = read_member(part, content.budget, pasted=pasted)
        inputs += found
        unread += more
    return inputs, unread


def _parts(
    message: EmailMessage, content: Content, unread: list[Unread]
) -> Iterator[tuple[tuple[str, bytes], bool]]:
    """Give name and bytes of the text and of what is attached; whether somebody wrote it."""
    name = content.name
    body = message.get_body(preferencelist=("plain", "html"))
    text = _body(body) if body is not None else ""
    post = f"# {message['subject'] or ''}\n\n{_once(SIGNATURE.sub('', text))}\n"
    yield (name, post.encode("utf-8", "replace")), True
    for at, part in enumerate(message.iter_attachments(), start=1):
        own = f"{name}!{part.get_filename() or at}"
        if part.get_content_maintype() in ("image", "video", "audio"):
            unread.append(Unread(source=own, reason=PICTURE))
            continue
        yield from ((one, False) for one in _attached(part, own, unread, content.budget))


def _attached(
    part: MIMEPart, name: str, unread: list[Unread], budget: ReadingBudget
) -> Iterator[tuple[str, bytes]]:
    if part.get_content_type() == "message/rfc822":
        yield name, part.get_content().as_bytes()
        return
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return
    if is_archive(io.BytesIO(data)):
        yield from members(name, io.BytesIO(data), unread, budget)
    else:
        yield name, data


def _body(part: MIMEPart) -> str:
    data = part.get_payload(decode=True)
    try:
        text = str(part.get_content())
    except (LookupError, ValueError):
        text = decode_text(data) if isinstance(data, bytes) else ""
    text = text.replace("\r\n", "\n")
    if part.get_content_subtype() == "html":
        return html_text(text)
    return _unflowed(text) if part.get_param("format", "") == "flowed" else text


def _unflowed(text: str) -> str:
    """Join the lines that a mail program broke (RFC 3676); the lines keep their numbers."""
    out: list[str] = []
    first: int | None = None
    for line in text.split("\n"):
        if first is not None:
            out[first] += line.rstrip(" ") if not line.endswith(" ") else line
            out.append("")
        else:
            out.append(line)
        flows = line.endswith(" ") and line != "-- " and not line.startswith(">")
        first = (len(out) - 1 if first is None else first) if flows else None
    return "\n".join(out)


def _once(text: str) -> str:
    """Leave out of a mail what it quotes for the second time."""
    seen: set[str] = set()
    lines = text.split("\n")
    for at, line in enumerate(lines):
        bare = QUOTED.sub("", line).strip()
        if len(bare) >= TELLING and bare in seen and QUOTED.match(line):
            lines[at] = ""
        seen.add(bare)
    return "\n".join(lines)


def html_text(markup: str) -> str:
    """Give the words of a mail in HTML, a line for each paragraph."""
    from html.parser import HTMLParser

    out: list[str] = []
    hidden: list[str] = []

    class Words(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 (its form)
            hidden.extend([tag] if tag in HIDDEN else ())
            out.extend(["\n"] if tag in BREAKS else ())

        def handle_endtag(self, tag: str) -> None:
            if hidden and tag == hidden[-1]:
                hidden.pop()
            out.extend(["\n"] if tag in BREAKS else ())

        def handle_data(self, data: str) -> None:
            out.extend(() if hidden else [data])

    parser = Words()
    parser.feed(markup)
    parser.close()
    return re.sub(r"(?:[ \t]*\n){3,}", "\n\n", "".join(out).replace("\xa0", " ")).strip("\n")
