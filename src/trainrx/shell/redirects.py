"""Redirections: which files commands write, and what they read."""

from __future__ import annotations

import msgspec

from trainrx.model.pattern import late
from trainrx.shell.context import Context, WrittenFile
from trainrx.shell.limits import MAX_VALUE
from trainrx.shell.streams import Feed, Sink, Streams
from trainrx.shell.syntax import Node, Raw, Redirect, Simple

_TEE = late(r">\(\s*tee\s+((?:-\w+\s+)*)([^\s()|]+)\s*\)?\s*\)?")
_DEVICE = late(r"/dev/\w+|[0-9-]|")
_MAX_FILES = 64


def opened(context: Context, redirects: tuple[Redirect, ...], here: Raw | None) -> Streams:
    """Give the streams of a command with these redirections."""
    streams = context.streams
    for item in redirects:
        if item.sign.startswith("<"):
            if item.number in ("", "0"):
                streams = msgspec.structs.replace(streams, stdin=_input(context, item.target))
        else:
            streams = _output(context, streams, item)
    if here is not None:
        streams = msgspec.structs.replace(streams, stdin=_here(context, here))
    return streams


def _here(context: Context, here: Raw) -> Feed:
    expand, line = context.expander.text, context.place.line(here.at)
    # A here-document ends in a line end of its own, a here-string gets one.
    body = here.text
    end = "" if body[:1] in "\"'" and body[-2:-1] == "\n" else "\n"
    fixed = context.place.fixed
    return Feed(lambda: expand(body) + end, 0 if fixed else line, body + end)


def _input(context: Context, target: Raw) -> Feed | None:
    if target.text.startswith("<("):
        body = target.text[2:].removesuffix(")")
        text = context.substitute(body)
        return Feed(text + "\n" if text else "")
    found = context.find_file(context.expander.text(target.text))
    return None if found is None else Feed(found[1])


def _output(context: Context, streams: Streams, item: Redirect) -> Streams:
    tee = _TEE.match(item.target.text)
    raw = tee[2] if tee else item.target.text
    fields = context.expander.fields(raw)
    name = context.state.unknowns.show(fields[0].text) if len(fields) == 1 else ""
    is_stdout = item.number in ("", "1") or item.sign.startswith("&")
    if _DEVICE.fullmatch(name) or not fields:
        # `2>&1` changes nothing of interest; `1>&2` and `> /dev/null` take the output away.
        keeps = not is_stdout or name in ("1", "/dev/stdout", "/dev/tty")
        return streams if keeps else msgspec.structs.replace(streams, sink=Sink())
    outputs = tuple(dict.fromkeys((*streams.outputs, name)))
    if not is_stdout or tee:
        return msgspec.structs.replace(streams, outputs=outputs)
    line = context.place.line(item.target.at)
    path = context.path(fields[0].text) or name
    sink = Sink(path, line, append=item.sign in (">>", "&>>"))
    sink.level = context.undecided
    return msgspec.structs.replace(streams, sink=sink, outputs=outputs)


def close(context: Context, inner: Streams, outer: Streams) -> None:
    """Keep what was written to a file."""
    sink = inner.sink
    if sink is not None and sink is not outer.sink and sink.name and sink.touched:
        write(context, sink)


def write(context: Context, sink: Sink) -> None:
    """Keep the text of a file, or forget it when what is in it is no longer known."""
    old = context.written.get(sink.name)
    if not sink.certain or len(context.written) >= _MAX_FILES:
        context.written.pop(sink.name, None)
        return
    text, rows = sink.text, sink.rows
    line = sink.line
    if sink.append:
        if old is None:
            # What the file held before is not known, unless it is new.
            rows = rows and bool(text)
        else:
            text, rows, line = old.text + text, False, old.line
    if sum(len(item.text) for item in context.written.values()) + len(text) < 4 * MAX_VALUE:
        context.written[sink.name] = WrittenFile(text, line, rows)


def copies(context: Context, node: Node) -> list[str]:
    """Name the files that `tee` in a pipeline copies the output to."""
    if not isinstance(node, Simple) or not node.words or node.words[0].text != "tee":
        return []
    return [
        context.state.unknowns.show(field.text)
        for raw in node.words[1:]
        for field in context.expander.fields(raw.text)
        if not field.text.startswith("-")
    ]
