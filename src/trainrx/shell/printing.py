"""What a command prints, and which files it fills with that."""

from __future__ import annotations

from trainrx.shell import redirects
from trainrx.shell.context import Context
from trainrx.shell.streams import Feed, Sink
from trainrx.shell.unknown import known
from trainrx.shell.variables import Field

_SILENT = frozenset({"cd", "mkdir", "rm", "export", "wait", "sleep", "touch", "chmod", "trap"})


def run(context: Context, fields: list[Field]) -> None:
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
        return _folder(context) + "\n"
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
        from trainrx.shell import substitute

        return substitute.printed(words, given, lambda path: _file(context, path))
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


def _folder(context: Context) -> str:
    if context.folder.startswith("/") or not known(context.folder):
        return context.folder
    here = context.state.unknowns.mark("command", "$(pwd)", "$(pwd)")
    return here + ("/" + context.folder if context.folder not in ("", ".") else "")


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
        redirects.write(context, target)
