"""What of an answer is not shown: secrets, or with `strict` also who and where."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import TypeVar

import msgspec

from trainrx.model.lint import LintReport
from trainrx.model.text import Lang, Text
from trainrx.sanitizer import MASK, Level
from trainrx.sanitizer.assignments import is_secret_name, is_stand_in
from trainrx.sanitizer.patches import RedactedPatch, redacted
from trainrx.sanitizer.redactor import Redactor

A = TypeVar("A", bound=msgspec.Struct)
Node = dict[object, object]

BARE = Text(
    en="lines beside the change that hold a secret are left out: `patch -p1` applies it, "
    "`git apply` with --unidiff-zero",
    zh="改动旁含敏感信息的行已略去：可用 `patch -p1`，`git apply` 需加 --unidiff-zero",
)
EXPOSED = Text(
    en="a line that is changed holds a secret, and this patch with it: do not pass it on",
    zh="被改动的行里有敏感信息，补丁也带着它：请勿转发",
)
HIDDEN = Text(
    en="a secret is masked in this patch, so it does not apply as it is shown: write it into a "
    "file (`> fix.patch`), or see it with --no-redact",
    zh="补丁中的敏感信息已打码，照此无法应用：请写入文件（`> fix.patch`），或用 --no-redact 查看",
)
_VALUES = ("value", "text", "values", "alternatives", "to", "from")


def masked(answer: A, level: Level = "secrets", *, applies: bool = False) -> A:
    """Mask every text of an answer; a value goes by the name it stands under, too.

    Args:
        answer: any record that is rendered.
        level: what is masked.
        applies: keep the changed lines of a patch byte for byte.
    """
    if level == "none":
        return answer
    built = msgspec.to_builtins(answer)
    named = [text for text in _named(built) if text and not is_stand_in(text)]
    redactor = Redactor(level, _texts(built), named)
    if redactor.idle and not named:
        return answer
    mapped = _Masking(redactor, applies=applies).node(built)
    if isinstance(answer, LintReport) and isinstance(mapped, dict):
        mapped["texts"] = _in_place(answer.texts, redactor)
    return msgspec.convert(mapped, type(answer))


def sound(answer: A) -> A:
    """Replace what is no UTF-8 in every text of an answer."""
    return msgspec.convert(_map(msgspec.to_builtins(answer), _sound), type(answer))


def notes(patch: RedactedPatch, lang: Lang) -> list[str]:
    """Say what was done to a patch, and what follows for who applies it."""
    said = ((patch.bare, BARE), (patch.exposed, EXPOSED), (patch.masked, HIDDEN))
    return [text.in_(lang) for holds, text in said if holds]


class _Masking:
    """Masks the nodes of one answer."""

    def __init__(self, redactor: Redactor, *, applies: bool) -> None:
        self._redactor = redactor
        self._applies = applies
        self._lang: Lang = "en"

    def node(self, node: object) -> object:
        if isinstance(node, str):
            return self._redactor.text(node)
        if isinstance(node, (list, tuple)):
            return [self.node(item) for item in node]
        return self._record(node) if isinstance(node, dict) else node

    def _record(self, node: Node) -> Node:
        if node.get("lang") == "zh":
            self._lang = "zh"
        out: Node = {
            self.node(key): self._hidden(item) if _is_hidden(key, node) else self.node(item)
            for key, item in node.items()
        }
        if isinstance(node.get("diff"), str) and "patched" in node:
            self._patch(str(node["diff"]), out)
        edits = node.get("edits")
        if isinstance(edits, (list, tuple)) and out["edits"] != [*edits]:
            # what would be written into a file must be what it says
            out["edits"] = []
        return out

    def _hidden(self, item: object) -> object:
        if isinstance(item, (list, tuple)):
            return [self._hidden(part) for part in item]
        if item in (None, "", True, False) or (isinstance(item, str) and is_stand_in(item)):
            return item
        return MASK

    def _patch(self, diff: str, out: Node) -> None:
        patch = redacted(diff, self._redactor, applies=self._applies)
        said = out.get("notes")
        out["diff"] = patch.text
        out["notes"] = [*(said if isinstance(said, list) else []), *notes(patch, self._lang)]


def _in_place(texts: Mapping[str, Mapping[int, str]], redactor: Redactor) -> Node:
    """Mask the lines of findings so that a caret below still stands where it stood."""
    return {
        redactor.text(name): {
            number: redactor.text(line, in_place=True) for number, line in lines.items()
        }
        for name, lines in texts.items()
    }


def _texts(node: object) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, (list, tuple)):
        for item in node:
            yield from _texts(item)
    elif isinstance(node, dict):
        yield from _texts(list(node))
        for item in node.values():
            yield from _texts(item)


def _named(node: object) -> Iterator[str]:
    """Give what stands under the name of a secret."""
    if isinstance(node, (list, tuple)):
        for item in node:
            yield from _named(item)
    elif isinstance(node, dict):
        for key, item in node.items():
            if not _is_hidden(key, node):
                yield from _named(item)
            elif isinstance(item, (int, float)):
                yield "" if isinstance(item, bool) else str(item)
            else:
                yield from _texts(item)


def _is_hidden(key: object, node: Node) -> bool:
    """Tell whether what a record holds under a key is a secret by its name."""
    if isinstance(node[key], dict):
        return False
    names = (node.get("name"), node.get("param")) if key in _VALUES else (key,)
    return any(isinstance(name, str) and _is_secret(name) for name in names)


def _map(node: object, change: Callable[[str], str]) -> object:
    if isinstance(node, str):
        return change(node)
    if isinstance(node, (list, tuple)):
        return [_map(item, change) for item in node]
    if isinstance(node, dict):
        return {_map(key, change): _map(item, change) for key, item in node.items()}
    return node


def _sound(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


@lru_cache(maxsize=4096)
def _is_secret(name: str) -> bool:
    return is_secret_name(name)
