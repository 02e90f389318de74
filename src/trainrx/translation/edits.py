"""Changes of several launches made in the files they stand in, one launch after the other."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial

import msgspec

from trainrx.fix.patch import patch_launch
from trainrx.frameworks import framework_of
from trainrx.frameworks.base import Framework
from trainrx.launch.files import config_texts
from trainrx.launch.find import find_launches
from trainrx.launch.given import Given
from trainrx.launch.places import script_file
from trainrx.launch.scripts import script_launches
from trainrx.model.job import Input, RawLaunch
from trainrx.model.planning import FilePatch
from trainrx.model.result import Change
from trainrx.model.translation import Translated
from trainrx.shell import read_script


class Edited(msgspec.Struct, frozen=True, kw_only=True):
    """Files before and after, and what no edit could do."""

    files: tuple[FilePatch, ...] = ()
    by_hand: tuple[str, ...] = ()


def edited(given: Given, launches: Sequence[tuple[RawLaunch, Translated]]) -> Edited:
    """Make the changes of each launch; what the first one edits the next one finds edited."""
    work = _Files(given)
    for launch, now in launches:
        work.make(launch, [change for one in now.arguments for change in one.changes])
        if now.command_now != now.command:
            work.call(launch, now.command_now)
    return Edited(files=work.files(), by_hand=tuple(dict.fromkeys(work.by_hand)))


class _Files:
    """The texts as they are by now."""

    def __init__(self, given: Given) -> None:
        self._given = given
        self._before: dict[str, str | None] = {}
        self._now: dict[str, str] = {}
        self.by_hand: list[str] = []

    def files(self) -> tuple[FilePatch, ...]:
        """Give the files that are different."""
        return tuple(
            FilePatch(name=name, before=self._before.get(name), after=text)
            for name, text in self._now.items()
            if self._before.get(name) != text
        )

    def make(self, launch: RawLaunch, changes: Sequence[Change]) -> None:
        """Make the changes of one launch."""
        if not changes:
            return
        source = launch.origin.source
        script = next((item for item in self._given.scripts if item.name == source), None)
        beside = self._given.beside.get(source)
        texts = {**config_texts(launch, self._given.configs, beside).texts}
        texts = {name: self._now.get(name, text) for name, text in texts.items()}
        if script is None:
            patched = patch_launch(launch, None, texts, changes)
        else:
            now = msgspec.structs.replace(script, text=self._now.get(source, script.text or ""))
            variables = self._given.env.variables
            known = {item.name: item.value for item in variables if item.value is not None}
            read = None if beside is None else partial(script_file, beside=beside)
            parsed = read_script(now.text or "", source, known, read)
            current = self._again(launch, script, now, known)
            patched = patch_launch(current, parsed, texts, changes)
        for item in patched.files:
            self._before.setdefault(item.name, item.before)
            self._now[item.name] = item.after
        self.by_hand += [f"{one.change.spelled}: {one.reason}" for one in patched.left]
        self.by_hand += patched.notes

    def call(self, launch: RawLaunch, command: str) -> None:
        """Write another sub-command, where it stands in one place and nothing else changes."""
        source = launch.origin.source
        script = next((item for item in self._given.scripts if item.name == source), None)
        text = self._now.get(source, script.text or "" if script is not None else "")
        own = framework_of(launch.framework)
        after = _called(text, launch.command, command, own)
        if script is None or after is None:
            self.by_hand.append(f"{launch.command} -> {command}")
            return
        self._before.setdefault(source, script.text)
        self._now[source] = after

    def _again(
        self, launch: RawLaunch, script: Input, now: Input, known: Mapping[str, str]
    ) -> RawLaunch:
        """Find a launch in the text as edited so far: it has kept its place among the others."""
        if now.text == script.text:
            return launch
        beside = self._given.beside.get(script.name)
        was = script_launches(script, known, beside)[0]
        found = script_launches(now, known, beside)[0]
        index = next((i for i, one in enumerate(was) if one.origin == launch.origin), 0)
        return found[index] if index < len(found) else launch


def _called(text: str, old: str, new: str, framework: Framework) -> str | None:
    """Replace a sub-command behind its program; None when that is not one clear place."""
    program = "|".join(framework.programs)
    pattern = rf"((?:^|[\s/;&|])(?:{program})[ \t]+){re.escape(old)}(?=\s|$)"
    after, count = re.subn(pattern, lambda match: match[1] + new, text, flags=re.MULTILINE)
    if count != 1:
        return None
    was, now = (find_launches(read_script(one, "x")) for one in (text, after))
    same = [[a.name for a in one.args] for one in was] == [
        [a.name for a in one.args] for one in now
    ]
    return after if same and sum(one.command == new for one in now) > 0 else None
