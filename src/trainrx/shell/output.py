"""Redirections, and what commands print into files and into each other."""

from __future__ import annotations

import msgspec

from trainrx.model.pattern import late
from trainrx.shell.context import Context, WrittenFile
from trainrx.shell.limits import MAX_VALUE
from trainrx.shell.streams import Feed, Sink, Streams
from trainrx.shell.syntax import Node, Raw, Redirect, Simple
from trainrx.shell.values import Field, known

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


_SILENT = frozenset({"cd", "mkdir", "rm", "export", "wait", "sleep", "touch", "chmod", "trap"})


def put(context: Context, fields: list[Field]) -> None:
    """Give what a program prints to where its output goes."""
    streams = context.streams
    words = [field.text for field in fields]
    if words[0] == "tee":
        _tee(context, words)
        return
    sink = streams.sink
    if sink is None or words[0] in _SILENT:
        return
    feed = streams.stdin
    if words[0] == "cat" and len(words) == 1 and feed is not None:
        rows = feed.rows
        sink.add(feed.take_all(), context.undecided, feed.line if rows else 0)
        return
    text = _text(context, words, feed)
    if text is None:
        marked = [found for word in words for found in context.state.unknowns.within(word)]
        if feed is not None and not marked:
            marked = list(context.state.unknowns.within(feed.text))
        sink.fail(marked[0] if marked else None)
    else:
        sink.add(text, context.undecided)


def _text(context: Context, words: list[str], feed: Feed | None) -> str | None:
    """Work out what a command prints, None when that is not known."""
    name = words[0]
    if name == "pwd":
        from trainrx.shell.folders import folder

        return folder(context.state) + "\n"
    if name in ("realpath", "readlink", "dirname"):
        plain = [word for word in words[1:] if not word.startswith("-")]
        if len(plain) == 1 and not known(plain[0]):
            parent = context.parent(plain[0]) if name == "dirname" else plain[0]
            return None if parent is None or not _is_here(context, parent) else parent + "\n"
    if name == "basename":
        words = [_own_name(context, word) for word in words]
    if name in ("echo", "printf") or known(" ".join(words)):
        given = None if feed is None else feed.text
        if given is not None and not known(given) and name not in ("echo", "printf"):
            return None
        context.budget.spend(1 + len(given or "") // 32)
        from trainrx.shell import programs

        return programs.printed(words, given, lambda path: _file(context, path))
    return None


def _own_name(context: Context, word: str) -> str:
    """Give the name of the script for `$0`; a batch job runs a copy under another name."""
    only = context.state.unknowns.only(word)
    own = only is not None and (only.name, only.shown) == ("0", "$0")
    name = context.record.sources.script
    return name if own and name and not context.state.scheduled else word


def _is_here(context: Context, text: str) -> bool:
    """Tell whether a path begins where the script is."""
    found = context.state.unknowns.within(text)
    return len(found) == 1 and found[0].name == "0"


def _file(context: Context, path: str) -> str | None:
    found = context.find_file(path)
    if found is None:
        return None
    context.budget.spend(1 + len(found[1]) // 32)
    return found[1]


def _tee(context: Context, words: list[str]) -> None:
    streams = context.streams
    feed = streams.stdin
    names = [word for word in words[1:] if not word.startswith("-")]
    rows = feed is not None and feed.rows
    text = None if feed is None else feed.take_all()
    targets = [
        Sink(
            context.path(name) or context.state.unknowns.show(name),
            context.line,
            append="-a" in words,
        )
        for name in names
    ]
    for target in targets:
        target.level = context.undecided
    for sink in (*targets, *([streams.sink] if streams.sink else [])):
        if text is None or feed is None:
            sink.fail(None)
        else:
            sink.add(text, context.undecided, feed.line if rows else 0)
    for target in targets:
        write(context, target)
