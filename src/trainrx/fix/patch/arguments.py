"""The edits that may set, add, rename or remove an argument, the most natural first."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainrx.fix.patch.proof import DocumentMeaning
from trainrx.fix.patch.spots import (
    ArgumentPlace,
    behind,
    gap_before,
    is_clean,
    spots,
    style,
    uses_equals,
)
from trainrx.fix.patch.tokens import DocumentWords, Run, Token
from trainrx.fix.patch.variables import defined, like, plain, programs
from trainrx.fix.patch.wanted import OffsetEdit, Want, line_number, same
from trainrx.model.job import RawArg, RawLaunch

_LAUNCHERS = {
    "nproc_per_node": ("torchrun", "torch.distributed.run", "torch.distributed.launch"),
    "nnodes": ("torchrun", "torch.distributed.run", "torch.distributed.launch"),
    "num_processes": ("launch", "accelerate-launch"),
    "num_machines": ("launch", "accelerate-launch"),
    "num_gpus": ("deepspeed",),
    "num_nodes": ("deepspeed",),
}
"""Options of launchers by the word they stand behind."""

Candidate = tuple[OffsetEdit, ...]


def argument_edits(reading: DocumentMeaning, launch: RawLaunch, want: Want) -> Iterator[Candidate]:
    """Give what may bring an argument of a launch to what is wanted."""
    present = want.old or want.name
    found = [a for a in (*launch.args, *launch.launcher) if same(a.name, present)]
    if not found:
        if want.values is not None:
            yield from _added(reading, launch, want)
        return
    places = [place for arg in reversed(found) for place in _placed(reading, arg)]
    places = list(dict.fromkeys(places))
    if want.bare:
        yield from ((_without(name, reading.documents[name], spot, 0),) for name, spot in places)
        return
    if want.values is None or (want.old and _also(launch, want)):
        yield from _removed(reading, places)
        return
    if want.keeps and len(found) > 1:
        # given twice: both are called otherwise
        for most in range(len(places), 1, -1):
            yield tuple(OffsetEdit(name, *spot.name, want.name) for name, spot in places[:most])
    for name, spot in places:
        count = _count(found, reading, name, spot)
        renaming = (OffsetEdit(name, *spot.name, want.name),) if want.old else ()
        if want.keeps:
            yield renaming
            continue
        for edits in _set(reading, name, spot, want.values, count):
            yield (*renaming, *edits)


def _also(launch: RawLaunch, want: Want) -> bool:
    return any(same(a.name, want.name) for a in (*launch.args, *launch.launcher))


def _placed(reading: DocumentMeaning, arg: RawArg) -> Iterator[tuple[str, ArgumentPlace]]:
    """Give the places that may be this argument's: on its line, then the last one first."""
    found = [
        (name, spot) for name, words in reading.words.items() for spot in spots(words, arg.name)
    ]

    def far(item: tuple[str, ArgumentPlace]) -> tuple[bool, bool, int]:
        name, spot = item
        line = line_number(reading.documents[name], spot.flag.start)
        return name != arg.origin.source, line != arg.origin.line, -spot.flag.start

    yield from sorted(found, key=far)


def _count(
    args: list[RawArg], reading: DocumentMeaning, name: str, spot: ArgumentPlace
) -> int | None:
    """Give how many words the values of a spot are, None when that is not known."""
    line = line_number(reading.documents[name], spot.flag.start)
    own = [a for a in args if a.origin.source == name and a.origin.line == line] or args
    values = own[-1].values
    return None if values is None else len(values)


def _set(
    reading: DocumentMeaning,
    name: str,
    spot: ArgumentPlace,
    values: tuple[str, ...],
    count: int | None,
) -> Iterator[Candidate]:
    held = spot.values
    if count is not None and not spot.eq and len(held) > count:
        held = held[:count]
    if len(values) == 1 and len(held) == 1:
        yield from defined(reading, name, held[0], values[0], frozenset())
        yield (OffsetEdit(name, held[0].start, held[0].end, like(held[0].text, values[0])),)
        return
    if spot.eq:
        if not values:
            yield (OffsetEdit(name, spot.name[1], spot.flag.end, ""),)
        return
    edits = [
        OffsetEdit(name, token.start, token.end, like(token.text, value))
        for token, value in zip(held, values, strict=False)
    ]
    last = held[min(len(values), len(held)) - 1].end if held and values else spot.flag.end
    model = held[0].text if held else ""
    if len(values) > len(held):
        more = "".join(" " + like(model, value) for value in values[len(held) :])
        edits.append(OffsetEdit(name, last, last, more))
    elif len(values) < len(held):
        edits.append(OffsetEdit(name, last, held[-1].end, ""))
    yield tuple(edits)


# Removing


def _removed(
    reading: DocumentMeaning, places: list[tuple[str, ArgumentPlace]]
) -> Iterator[Candidate]:
    for name, spot in places:
        text = reading.documents[name]
        most = len(spot.values) if not spot.eq else 0
        for count in range(most, -1, -1):
            yield (_without(name, text, spot, count),)
    if len(places) > 1:
        edits = [
            _without(name, reading.documents[name], spot, 0 if spot.eq else len(spot.values))
            for name, spot in places
        ]
        yield tuple(edits)


def _without(name: str, text: str, spot: ArgumentPlace, count: int) -> OffsetEdit:
    """Cut out a flag with the first of its values, and the line that would be left empty."""
    run, start = spot.run, spot.flag.start
    last = spot.at + count
    end = run.words[last].end
    before = gap_before(text, run, spot.at)
    after = text[end : run.words[last + 1].start] if last + 1 < len(run.words) else None
    begins_line = "\n" in before or (not spot.at and not run.assigns)
    if begins_line and after is not None and "\n" not in after and is_clean(after):
        return OffsetEdit(name, start, end + len(after), "")
    if (spot.at or run.assigns) and is_clean(before):
        return OffsetEdit(name, start - len(before), end, "")
    if after is not None and is_clean(after):
        return OffsetEdit(name, start, end + len(after), "")
    rest = re.match(r"[ \t]+(?=#)", text[end:])
    return OffsetEdit(name, start, end + (rest.end() if rest else 0), "")


# Adding


def _added(reading: DocumentMeaning, launch: RawLaunch, want: Want) -> Iterator[Candidate]:
    if want.name in _LAUNCHERS and not want.assigned:
        for name, run in programs(reading, launch):
            for token in run.words:
                if token.text.rpartition("/")[2] in _LAUNCHERS[want.name]:
                    yield _put(name, reading.words[name], run, token, want)
    for arg in reversed(launch.args):
        if arg.via != "arg":
            continue
        for name, spot in list(_placed(reading, arg))[:3]:
            last = _last(spot, _count([arg], reading, name, spot))
            yield _put(name, reading.words[name], spot.run, last, want)
    for name, run in programs(reading, launch):
        if run.words:
            yield _put(name, reading.words[name], run, run.words[-1], want)
        for token in run.words:
            if token.text.strip("\"'") == launch.program or token.text in launch.command.split():
                yield _put(name, reading.words[name], run, token, want)


def _last(spot: ArgumentPlace, count: int | None) -> Token:
    """Give the last word of an argument that has so many values."""
    values = () if spot.eq else spot.values[:count]
    return values[-1] if values else spot.flag


def _put(name: str, words: DocumentWords, run: Run, token: Token, want: Want) -> Candidate:
    """Write an argument behind a word, in the way the others of its run are written."""
    text = words.text
    at = behind(text, run, token.end)
    gap = style(text, run)
    if at > token.end and "\n" not in gap:
        at = token.end
    return (OffsetEdit(name, at, at, gap + written(run, want)),)


def written(run: Run, want: Want) -> str:
    """Write an argument as a run writes its own."""
    values = " ".join(plain(value) for value in want.values or ())
    if want.assigned:
        return f"{want.name}={values}"
    if not values:
        return f"--{want.name}"
    joint = "=" if uses_equals(run) and len(want.values or ()) == 1 else " "
    return f"--{want.name}{joint}{values}"
