"""The edits that may set, add or remove a variable, the most natural first."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple

from trainrx.fix.patch.proof import DocumentMeaning
from trainrx.fix.patch.spots import is_clean
from trainrx.fix.patch.tokens import Binding, Run, Token
from trainrx.fix.patch.wanted import OffsetEdit, Want, indent_of, line_end, line_number, line_start
from trainrx.model.job import RawLaunch

_SAFE = re.compile(r"[\w./:,=+@%-]+", re.ASCII)
_REFERENCE = re.compile(
    r"\"?\$(?:(?P<bare>[A-Za-z_]\w*)|\{(?P<name>[A-Za-z_]\w*|[0-9])"
    r"(?::?(?P<sign>[-=])(?P<default>[^{}]*))?\})\"?",
    re.ASCII,
)


class VariableReference(NamedTuple):
    """A word that is one variable; `start` and `end`: its default in the word, else -1."""

    name: str
    start: int
    end: int


def reference(raw: str) -> VariableReference | None:
    """Read `$LEN`, `"${LEN}"`, `${LEN:-2048}`; None for any other word."""
    match = _REFERENCE.fullmatch(raw)
    if match is None or raw.startswith('"') != raw.endswith('"'):
        return None
    return VariableReference(match["bare"] or match["name"], *match.span("default"))


def like(raw: str, value: str) -> str:
    """Write a value with the quotes of the word it replaces, where they can hold it."""
    quote = raw[:1]
    if len(raw) > 1 and quote in ("'", '"') and raw.endswith(quote):
        if quote == '"' and not re.search(r'["$`\\]', value):
            return f'"{value}"'
        if "'" not in value:
            return f"'{value}'"
    return plain(value)


def plain(value: str) -> str:
    """Write a value as one word of the shell."""
    return value if _SAFE.fullmatch(value) else shlex.quote(value)


Candidate = tuple[OffsetEdit, ...]
_MOST_STEPS = 5
_TOLD_BY = ("-e", "--env", "-x")
_CONTAINERS = ("run", "exec")


def defined(
    reading: DocumentMeaning, name: str, token: Token, value: str, seen: frozenset[str]
) -> Iterator[Candidate]:
    """Give the edits that change the variable a word takes its value from, where it is set.

    A file that is sourced may serve other scripts too, so only the word's own is looked at.
    """
    found = reference(token.text)
    if found is None or len(seen) >= _MOST_STEPS:
        return
    text = reading.documents[name]
    for place, binding in _bindings(reading, found.name) if found.name not in seen else ():
        if place == name:
            held = Token(text[binding.value : binding.end], binding.value)
            yield from defined(reading, name, held, value, seen | {found.name})
            yield (OffsetEdit(name, held.start, held.end, like(held.text, value)),)
    for match in re.finditer(rf"\$\{{{found.name}:?=([^{{}}]*)\}}", text):
        yield (OffsetEdit(name, match.start(1), match.end(1), like("", value)),)
    if found.start >= 0:
        start = token.start + found.start
        yield (OffsetEdit(name, start, token.start + found.end, like("", value)),)


def _bindings(reading: DocumentMeaning, name: str) -> list[tuple[str, Binding]]:
    return [
        (place, binding)
        for place, words in reading.words.items()
        for binding in reversed(words.bindings)
        if binding.name == name
    ]


def programs(reading: DocumentMeaning, launch: RawLaunch) -> list[tuple[str, Run]]:
    """Give the commands that may be the launch: its program among their words, nearest first."""
    found = []
    base = launch.program.rpartition("/")[2]
    for name, words in reading.words.items():
        for run in words.runs:
            if run.kind == "items" or not run.words:
                continue
            cooked = [token.text.strip("\"'") for token in run.words]
            hit = [n for n, text in enumerate(cooked) if launch.program and text == launch.program]
            loose = hit or [n for n, text in enumerate(cooked) if base and text.endswith(base)]
            if not loose:
                continue
            text = reading.documents[name]
            line = line_number(text, run.words[loose[0]].start)
            wrong = name != launch.origin.source or line != launch.origin.line
            found.append(((wrong, not hit, -run.start), (name, run)))
    return [item for _, item in sorted(found, key=lambda one: one[0])]


def variable_edits(reading: DocumentMeaning, launch: RawLaunch, want: Want) -> Iterator[Candidate]:
    """Give what may bring an environment variable of a launch to what is wanted."""
    held = next((item for item in launch.env if item.name == want.name), None)
    if held is None:
        if want.values is not None:
            yield from _added(reading, launch, want)
        return

    def far(item: tuple[str, Binding]) -> tuple[bool, bool, int]:
        name, binding = item
        line = line_number(reading.documents[name], binding.start)
        return name != held.origin.source, line != held.origin.line, -binding.start

    places = sorted(_bindings(reading, want.name), key=far)
    if want.values is None:
        for name, binding in places:
            yield from _removed(name, reading.documents[name], binding)
        return
    for name, binding in places:
        text = reading.documents[name]
        token = Token(text[binding.value : binding.end], binding.value)
        yield from defined(reading, name, token, want.values[0], frozenset({want.name}))
        yield (OffsetEdit(name, token.start, token.end, like(token.text, want.values[0])),)
    # It comes from elsewhere (`export` of a variable set by a loop): set for this command only.
    yield from _before(reading, launch, want)


# Removing


def _removed(name: str, text: str, binding: Binding) -> Iterator[Candidate]:
    run = binding.run
    words = (*run.assigns, *run.words)
    at = next(n for n, token in enumerate(words) if token.start <= binding.start < token.end)
    token = words[at]
    if "," in token.text and token.text.startswith(("--export", "--env")):
        first = text[binding.start - 1] == "="
        more = text[binding.end : binding.end + 1] == ","
        yield (OffsetEdit(name, binding.start - (not first), binding.end + (first and more), ""),)
    declared = bool(run.words) and not run.assigns and run.words[0].text in ("export", "declare")
    if len(words) == 1 or (declared and len(words) == 2):
        yield (_line(name, text, words[0].start, words[-1].end),)
        return
    start = token.start
    if at and words[at - 1].text in _TOLD_BY:
        at -= 1
        start = words[at].start
    if at == 0 or at < len(run.assigns):
        after = text[token.end : words[at + 1].start] if at + 1 < len(words) else ""
        if is_clean(after):
            yield (OffsetEdit(name, start, token.end + len(after), ""),)
    before = text[words[at - 1].end : start] if at else ""
    yield (OffsetEdit(name, start - (len(before) if is_clean(before) else 0), token.end, ""),)


def _line(name: str, text: str, start: int, end: int) -> OffsetEdit:
    """Cut out a command; its line as well when nothing else stands on it."""
    first = line_start(text, start)
    stop = text.find("\n", end)
    stop = stop + 1 if stop >= 0 else len(text)
    if text[first:start].strip() or text[end:stop].strip():
        behind = re.match(r"[ \t]*(?:;|&&)[ \t]*", text[end:stop])
        return OffsetEdit(name, start, end + (behind.end() if behind else 0), "")
    return OffsetEdit(name, first, stop, "")


# Adding


def _added(reading: DocumentMeaning, launch: RawLaunch, want: Want) -> Iterator[Candidate]:
    """Add a variable the way the script sets its others, else in front of the command."""
    runs = programs(reading, launch)
    seen: list[tuple[str, Binding]] = []
    for item in reversed(launch.env):
        for name, binding in _bindings(reading, item.name):
            line = line_number(reading.documents[name], binding.start)
            here = name == item.origin.source == launch.origin.source
            if here and line == item.origin.line:
                seen.append((name, binding))
    seen.sort(key=lambda one: -one[1].start)
    for name, binding in seen:
        yield from _beside(name, reading.documents[name], binding, want)
    for name, run in runs:
        for token in run.words[:-1]:
            if token.text in _CONTAINERS and run.words[0].text != "uv":
                yield (OffsetEdit(name, token.end, token.end, f" -e {_pair(want)}"),)
    yield from _before(reading, launch, want)


def _pair(want: Want) -> str:
    return f"{want.name}={plain(want.values[0]) if want.values else ''}"


def _before(reading: DocumentMeaning, launch: RawLaunch, want: Want) -> Iterator[Candidate]:
    for name, run in programs(reading, launch):
        text = reading.documents[name]
        own = not text[line_start(text, run.start) : run.start].strip()
        end = run.words[-1].end
        joint = " "
        if own and "\n" in text[run.start : end] and run.kind == "command":
            joint = " \\" + line_end(text) + indent_of(text, run.start)
        yield (OffsetEdit(name, run.start, run.start, _pair(want) + joint),)
        if own:
            joint = line_end(text) + indent_of(text, run.start)
            yield (OffsetEdit(name, run.start, run.start, f"export {_pair(want)}{joint}"),)


def _beside(name: str, text: str, binding: Binding, want: Want) -> Iterator[Candidate]:
    """Add a variable beside one that is set already."""
    run = binding.run
    words = (*run.assigns, *run.words)
    at = next(n for n, token in enumerate(words) if token.start <= binding.start < token.end)
    token = words[at]
    if at < len(run.assigns) and run.words:
        gap = text[token.end : words[at + 1].start]
        yield (OffsetEdit(name, token.end, token.end, gap + _pair(want)),)
    elif not run.words or run.words[0].text in ("export", "declare"):
        yield from _line_below(name, text, run, f"export {_pair(want)}")
    elif token.text.startswith("--export"):
        yield (OffsetEdit(name, binding.end, binding.end, "," + _pair(want)),)
    else:
        joined = text[token.start : binding.start]
        first = at - 1 if at and words[at - 1].text in _TOLD_BY else at
        front = text[words[first].start : token.start] if first < at else joined
        gap = text[words[first - 1].end : words[first].start] if first else " "
        gap = gap if is_clean(gap) else " "
        yield (OffsetEdit(name, token.end, token.end, gap + front + _pair(want)),)


def _line_below(name: str, text: str, run: Run, line: str) -> Iterator[Candidate]:
    end = (run.words or run.assigns)[-1].end
    stop = text.find("\n", end)
    stop = len(text) if stop < 0 else stop
    if text[end:stop].rstrip("\r").strip() and not text[end:stop].lstrip().startswith("#"):
        return
    stop -= text[end:stop].endswith("\r")
    indent = indent_of(text, run.start)
    yield (OffsetEdit(name, stop, stop, line_end(text) + indent + line),)
