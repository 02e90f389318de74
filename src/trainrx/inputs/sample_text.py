"""What a sample of training data says and carries, whatever schema it is written in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from trainrx.model.pattern import late

SPOKEN = ("messages", "conversations", "conversation", "dialog", "prompt")
"""Lists of messages, the first one counts; a `prompt` may be one as well (TRL, verl)."""
ASKED = ("system", "instruction", "input", "prompt", "query", "question", "problem")
ANSWERED = ("response", "output", "completion", "chosen", "solution", "answer")
"""The answer, the first one counts: a row may also carry the bare result of its solution."""
PLAIN = ("text", "content", "raw_content")
REJECTED = ("rejected", "rejected_response", "rejected_messages")
OPENING = ("user", "human", "system")
MEDIA = (
    ("images", ("images", "image", "image_path", "images_path")),
    ("videos", ("videos", "video")),
    ("audios", ("audios", "audio")),
)
TAGS = {"images": "<image>", "videos": "<video>", "audios": "<audio>"}
CONTENT_KINDS = {
    "image": "images",
    "image_url": "images",
    "video": "videos",
    "video_url": "videos",
    "audio": "audios",
    "audio_url": "audios",
    "input_audio": "audios",
}
_TAG = late(r"<(?:image|video|audio)>")
DEEPEST = 20
"""Nesting beyond this is no message."""


class SampleText(NamedTuple):
    """The words of a sample, its second answer if it has one, and what else it carries.

    `messages` counts the messages a chat template wraps; 0 for plain text. `tags` counts the places
    of images in the text. `answer` is what it ends with: its answer, or the last message.
    """

    text: str
    rejected: str | None
    messages: int
    images: int
    videos: int
    audios: int
    tags: int = 0
    answer: str = ""


def parts_of(sample: Mapping[str, object]) -> SampleText | None:
    """Read a sample of a known schema; None when none of its fields is known.

    Known are messages (OpenAI's and ShareGPT's), query and response with history, instruction,
    input and output, prompt with completion or chosen and rejected, and plain text.
    """
    spoken = _conversation(sample)
    if _is_whole(sample.get("chosen")):
        # TRL's implicit prompt: chosen and rejected are whole conversations
        shared, answers = [], list(_said(sample.get("chosen")))
    elif spoken:
        # what is to be found out beside a conversation (`solution`) is for rewards alone
        shared = [*_said(sample.get("system")), *spoken]
        answers = [text for key in ("completion", "chosen") for text in _said(sample.get(key))]
    else:
        shared = [*(_plain(sample.get(key)) for key in ASKED), *_said(sample.get("history"))]
        answers = _answer(sample)
    shared = [text for text in shared if text]
    if not shared and not answers:
        plain = next((text for key in PLAIN if (text := _plain(sample.get(key)))), "")
        return _parts(sample, plain, None, 0) if plain else None
    shared = [*_said(sample.get("tools")), *shared]
    text = "\n".join((*shared, *answers))
    parts = _parts(sample, text, _rejected(shared, sample), len(shared) + len(answers))
    return parts._replace(answer="\n".join(answers) or shared[-1])


def _parts(
    sample: Mapping[str, object], text: str, rejected: str | None, messages: int
) -> SampleText:
    images, videos, audios = (_carried(sample, kind, keys, text) for kind, keys in MEDIA)
    tags = text.count(TAGS["images"])
    plain = _TAG.sub("", text)
    return SampleText(plain, rejected, messages, images, videos, audios, tags=tags)


def _conversation(sample: Mapping[str, object]) -> list[str]:
    for key in SPOKEN:
        found = sample.get(key)
        if isinstance(found, list) and found:
            return list(_said(found))
    return []


def _is_whole(chosen: object) -> bool:
    """Tell whether a chosen answer brings its question along."""
    if not isinstance(chosen, list) or not chosen or not isinstance(chosen[0], Mapping):
        return False
    return str(chosen[0].get("role") or chosen[0].get("from")).lower() in OPENING


def _answer(sample: Mapping[str, object]) -> list[str]:
    for key in ANSWERED:
        found = list(_said(sample.get(key)))
        if found:
            return found
    return []


def _rejected(shared: list[str], sample: Mapping[str, object]) -> str | None:
    refused = [text for key in REJECTED for text in _said(sample.get(key))]
    if not refused:
        return None
    if isinstance(sample.get("rejected_response"), str) and _conversation(sample):
        # ms-swift: it takes the place of the last message
        shared = shared[:-1]
    if isinstance(sample.get("rejected_messages"), list):
        shared = []
    return _TAG.sub("", "\n".join((*shared, *refused)))


def _said(value: object, depth: int = 0) -> Iterator[str]:
    """Give the texts of a message, of a list of them, or of plain text."""
    if depth > DEEPEST:
        return
    if isinstance(value, str):
        if value:
            yield value
    elif isinstance(value, list):
        for item in value:
            yield from _said(item, depth + 1)
    elif isinstance(value, Mapping):
        yield from _of_mapping(value, depth)


def _of_mapping(message: Mapping[object, object], depth: int) -> Iterator[str]:
    """Read one message: its content, be that text or parts, and calls of tools."""
    for key in ("content", "value", "text"):
        if key in message:
            content = message[key]
            if isinstance(content, list):
                joined = " ".join(_said(content, depth + 1))
                if joined:
                    yield joined
            else:
                yield from _said(content, depth + 1)
            break
    else:
        if "function" in message or "parameters" in message:
            yield str(message)
    if message.get("tool_calls"):
        yield str(message["tool_calls"])


def _plain(value: object) -> str:
    return value if isinstance(value, str) else ""


def _carried(sample: Mapping[str, object], kind: str, keys: tuple[str, ...], text: str) -> int:
    """Count images, videos or audios: listed, placed by a tag, or part of a message."""
    listed = 0
    for key in keys:
        value = sample.get(key)
        if isinstance(value, list):
            listed = max(listed, len(value))
        elif value:
            listed = max(listed, 1)
    inside = sum(_within(sample.get(key), kind) for key in SPOKEN)
    return max(listed, text.count(TAGS[kind]), inside)


def _within(value: object, kind: str, depth: int = 0) -> int:
    if depth > DEEPEST:
        return 0
    if isinstance(value, list):
        return sum(_within(item, kind, depth + 1) for item in value)
    if not isinstance(value, Mapping):
        return 0
    own = CONTENT_KINDS.get(str(value.get("type"))) == kind
    return int(own) + _within(value.get("content"), kind, depth + 1)
