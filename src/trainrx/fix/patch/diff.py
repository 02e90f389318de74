"""The edits as a unified diff that `patch -p1` and `git apply` take."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from trainrx.model.planning import FilePatch, Patched

_NO_END = "\\ No newline at end of file\n"
_ODD = re.compile(r'[\x00-\x1f"\\\x7f]')


def unified_diff(patched: Patched) -> str:
    """Write the edits as git does, `a/` and `b/` in front of names; "" when there are none."""
    return "".join(part for item in patched.files for part in _one(item))


def _one(item: FilePatch) -> Iterator[str]:
    if item.before == item.after:
        return
    name = re.sub(r"^(?:[A-Za-z]:)?[/\\]+|^(?:\./)+", "", item.name)
    old, new = _quoted(f"a/{name}"), _quoted(f"b/{name}")
    yield f"diff --git {old} {new}\n"
    if item.before is None:
        yield "new file mode 100644\n"
    if item.before is None and not item.after:
        return
    before = "/dev/null" if item.before is None else _ended(old)
    yield f"--- {before}\n+++ {_ended(new)}\n"
    found = difflib.unified_diff(_lines(item.before or ""), _lines(item.after), n=3)
    for number, line in enumerate(found):
        if number > 1:
            yield line if line.endswith("\n") else f"{line}\n{_NO_END}"


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _ended(name: str) -> str:
    """End a name with a blank in it by a tab, which tells where it ends."""
    return f"{name}\t" if " " in name and not name.startswith('"') else name


def _quoted(name: str) -> str:
    if not _ODD.search(name):
        return name
    return '"' + _ODD.sub(lambda match: _escaped(match[0]), name) + '"'


def _escaped(char: str) -> str:
    known = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
    return known.get(char, f"\\{ord(char):03o}")
