"""A script read before and after an edit: exactly what was wanted is different."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from trainrx.fix.patch.tokens import DocumentWords, read_words
from trainrx.fix.patch.wanted import Want, same
from trainrx.launch.find import find_launches
from trainrx.model.job import RawArg, RawLaunch, Script
from trainrx.shell import read_script

_TOLD = frozenset({"echo", "printf", "mkdir", "tee"})
"""Commands that only show a value, or make the folder it names."""

Given = tuple[str, tuple[str, ...] | None, tuple[str, ...], str]


class DocumentMeaning(NamedTuple):
    """What documents mean; `source` names the script among them."""

    source: str
    documents: Mapping[str, str]
    words: Mapping[str, DocumentWords]
    script: Script
    launches: tuple[RawLaunch, ...]


def read(
    documents: Mapping[str, str], source: str, known: DocumentMeaning | None = None
) -> DocumentMeaning:
    """Read a script with the files it is put together from."""
    script = read_script(documents[source], source, files=documents.get)
    old = known.documents if known is not None else {}
    words = {
        name: known.words[name] if known is not None and old.get(name) == text else read_words(text)
        for name, text in documents.items()
    }
    return DocumentMeaning(source, documents, words, script, find_launches(script))


def holds(launch: RawLaunch, want: Want) -> bool:
    """Tell whether a launch is as wanted already."""
    if want.kind == "env":
        held = {item.name: item.value for item in launch.env}
        if want.values is None:
            return want.name not in held
        return want.name in held and held[want.name] == want.values[0]
    if want.old and any(same(a.name, want.old) for a in (*launch.args, *launch.launcher)):
        return False
    given = [a for a in (*launch.args, *launch.launcher) if same(a.name, want.name)]
    if want.values is None:
        return not given
    if want.keeps:
        return bool(given)
    return bool(given) and _is(given[-1].values, want.values)


def _is(values: tuple[str, ...] | None, wanted: tuple[str, ...]) -> bool:
    """A switch without a value is the same as one that says true."""
    on = ((), ("true",), ("True",))
    return values == wanted or (wanted == () and values in on)


def proved(
    before: DocumentMeaning, after: DocumentMeaning, at: int, want: Want, along: Collection[int]
) -> bool:
    """Tell whether an edit did to the launch `at` what was wanted, and nothing to anything else.

    `along`: launches that may change in the same way.
    """
    if len(before.launches) != len(after.launches) or _more_trouble(before, after):
        return False
    changed = 0
    for number, (old, new) in enumerate(zip(before.launches, after.launches, strict=True)):
        if _sum(old) == _sum(new):
            if number == at:
                return False
            continue
        if number != at and number not in along:
            return False
        if not _fits(old, new, want):
            return False
        changed += 1
    return _rest_is_same(before.script, after.script, changed)


def _more_trouble(before: DocumentMeaning, after: DocumentMeaning) -> bool:
    defects = len(after.script.defects) > len(before.script.defects)
    errors = sum(w.errors for w in after.words.values()) > sum(
        w.errors for w in before.words.values()
    )
    return defects or errors or len(after.script.unread) > len(before.script.unread)


def _rest_is_same(before: Script, after: Script, changed: int) -> bool:
    """Compare the commands that are no launches, and the files that are written."""
    if len(before.commands) != len(after.commands) or before.written != after.written:
        return False
    if before.directives != after.directives:
        return False
    different = 0
    for old, new in zip(before.commands, after.commands, strict=True):
        if [w.text for w in old.words] != [w.text for w in new.words]:
            name = old.words[0].text.rpartition("/")[2]
            different += name not in _TOLD
    return different <= changed


def _sum(launch: RawLaunch) -> tuple[object, ...]:
    env = tuple(sorted((item.name, item.value or "", item.value is None) for item in launch.env))
    return (_outside(launch), given(launch.args), given(launch.launcher), env, launch.configs)


def _outside(launch: RawLaunch) -> tuple[object, ...]:
    return (
        launch.framework,
        launch.command,
        launch.program,
        launch.host,
        launch.perhaps,
        launch.args_complete,
        launch.env_complete,
        launch.outputs,
        given(launch.container),
    )


def given(args: Sequence[RawArg]) -> tuple[Given, ...]:
    """Give what of arguments counts: not where they stand."""
    return tuple((arg.name, arg.values, arg.alternatives, arg.sign) for arg in args)


def _fits(old: RawLaunch, new: RawLaunch, want: Want) -> bool:
    if _outside(old) != _outside(new):
        return False
    if want.kind == "env":
        held = {item.name: item.value for item in old.env}
        held.pop(want.name, None)
        if want.values is not None:
            held[want.name] = want.values[0]
        same_args = given(old.args) == given(new.args)
        alike = same_args and given(old.launcher) == given(new.launcher)
        return alike and held == {item.name: item.value for item in new.env}
    env = {i.name: i.value for i in old.env} == {i.name: i.value for i in new.env}
    kept = want.bare or not same(want.name, "config")
    if not env or (old.configs != new.configs and kept):
        return False
    pairs = [(given(old.args), given(new.args)), (given(old.launcher), given(new.launcher))]
    fitting = [(one, other) for one, other in pairs if one != other]
    return bool(fitting) and all(changed_so(one, other, want) for one, other in fitting)


def changed_so(old: Sequence[Given], new: Sequence[Given], want: Want) -> bool:
    """Tell whether arguments differ by what was wanted alone."""
    here = [number for number, item in enumerate(old) if same(item[0], want.name)]
    if want.values is None:
        return bool(here) and list(new) == [x for x in old if not same(x[0], want.name)]
    past = [number for number, item in enumerate(old) if want.old and same(item[0], want.old)]
    if past:
        return _renamed(old, new, want, past)
    if here:
        if len(old) != len(new):
            return False
        rest = [n for n in range(len(old)) if n != here[-1]]
        found = new[here[-1]]
        alike = same(found[0], want.name) and found[3] == old[here[-1]][3]
        return alike and _is(found[1], want.values) and all(old[n] == new[n] for n in rest)
    for number, item in enumerate(new):
        if same(item[0], want.name) and _is(item[1], want.values):
            return [*new[:number], *new[number + 1 :]] == list(old)
    return False


def _renamed(old: Sequence[Given], new: Sequence[Given], want: Want, past: list[int]) -> bool:
    if len(old) != len(new):
        return False
    for number, (one, other) in enumerate(zip(old, new, strict=True)):
        if number not in past:
            if one != other:
                return False
        elif not same(other[0], want.name) or other[1] != (one[1] if want.keeps else want.values):
            return False
    return True
