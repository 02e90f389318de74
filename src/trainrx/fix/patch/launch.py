"""Changes of a launch written into the files it is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trainrx.fix.patch import configs
from trainrx.fix.patch.proof import DocumentMeaning, holds, read
from trainrx.fix.patch.script import brought, launch_number
from trainrx.fix.patch.sources import (
    option_of,
    program_of,
    sets_keyword,
    source_with,
    takes_keywords,
)
from trainrx.fix.patch.stages import staged
from trainrx.fix.patch.wanted import Want, refusal, same, wanted
from trainrx.inputs.recognise import is_manifest
from trainrx.model.job import RawLaunch, Script
from trainrx.model.planning import FilePatch, Left, Patched
from trainrx.model.result import Change


class Unplaced(Exception):  # noqa: N818  # control flow inside the package, never seen outside
    """A change that could not be written, with the reason."""


def patch_launch(
    launch: RawLaunch,
    script: Script | None,
    texts: Mapping[str, str],
    changes: Sequence[Change],
    *,
    versions: Mapping[str, str] | None = None,
) -> Patched:
    r"""Write changes into the files a launch is made of.

    An edit counts only when the files, read again, give the launch with exactly what was wanted,
    every other argument, variable and command as before. A change for which no edit does that is
    among `left`, with the reason. Every byte that is not part of an edit stays. Making the same
    changes again changes nothing more.

    Args:
        launch: the command the changes are for.
        script: the script it stands in, None when a configuration is all there is.
        texts: the other files by the names they are known by: configurations, sourced scripts, the
            Python program. The script itself as well, as it lies on disk, when `script.text` is
            not that (it has `\n` for `\r\n`).
        changes: what to change, in this order.
        versions: package name to version text; kept for the caller's sake, no edit depends on it.
    """
    del versions
    work = _Work(launch, script, texts)
    left: list[Left] = []
    for change in changes:
        kept = work.state()
        try:
            work.make(change)
        except Unplaced as error:
            work.restore(kept)
            left.append(Left(change=change, reason=str(error)))
    notes = tuple(dict.fromkeys(work.notes))
    names = tuple(work.named.items())
    return Patched(files=work.files(), left=tuple(left), notes=notes, named=names)


class _Work:
    """The files as they are by now."""

    def __init__(self, launch: RawLaunch, script: Script | None, texts: Mapping[str, str]) -> None:
        self.notes: list[str] = []
        self.named: dict[str, str] = {}
        self._launch = launch
        self._texts = dict(texts)
        self._before: dict[str, str] = dict(texts)
        self._reading: DocumentMeaning | None = None
        self._number: int | None = None
        if script is not None:
            self._enter(script)

    def _enter(self, script: Script) -> None:
        documents = {script.source: self._texts.get(script.source, script.text)}
        documents |= {n: self._texts.get(n, text) for n, text in script.files}
        self._before |= documents
        for name in documents:
            self._texts.pop(name, None)
        self._reading = read(documents, script.source)
        if is_manifest(documents[script.source]):
            self.notes.append(f"{script.source} is a manifest, which is not edited")
        else:
            self._number = launch_number(self._reading, self._launch)

    def state(self) -> tuple[DocumentMeaning | None, dict[str, str], list[str]]:
        """Give what a change that fails halfway is taken back to."""
        return self._reading, dict(self._texts), list(self.notes)

    def restore(self, kept: tuple[DocumentMeaning | None, dict[str, str], list[str]]) -> None:
        """Take back what was done since."""
        self._reading, self._texts, self.notes = kept

    def files(self) -> tuple[FilePatch, ...]:
        """Give the files that are different now."""
        now = {**(self._reading.documents if self._reading else {}), **self._texts}
        return tuple(
            FilePatch(name=name, before=self._before.get(name), after=text)
            for name, text in now.items()
            if self._before.get(name) != text
        )

    @property
    def launch(self) -> RawLaunch:
        """Give the launch as it is by now."""
        if self._reading is None or self._number is None:
            return self._launch
        return self._reading.launches[self._number]

    # One change

    def make(self, change: Change) -> None:
        """Make one change.

        Raises:
            Unplaced: No edit does that and nothing else.
        """
        if reason := refusal(change):
            raise Unplaced(reason)
        want = wanted(change, self.launch)
        want = self._without_old(want, change)
        if want.keeps and not want.old:
            if self._is_set(want):
                return
            raise Unplaced(f"{change.from_ or want.name} is not in the files at hand")
        if change.canonical == "parallel.deepspeed" and want.values and want.values[0]:
            value = self._stage(want)
            if value is None:
                return
            if value != want.values[0]:
                self.named[want.values[0]] = value
            want = want._replace(values=(value,))
        self._bring(want, change)

    def _without_old(self, want: Want, change: Change) -> Want:
        """Take out an argument that is to have another name, where that is not to rename it."""
        if not want.old:
            return want
        new = want._replace(old="")
        if not self._is_set(want._replace(name=want.old, old="", kind="arg")):
            return new
        if want.kind == "env" or self._is_set(new):
            self._bring(Want("arg", want.old, None), change)
            return new
        return want

    def _is_set(self, want: Want) -> bool:
        if self._has(want) or any(configs.sets(text, want) for text in self._texts.values()):
            return True
        program = program_of(self.launch, self._texts)
        return program is not None and sets_keyword(self._texts[program], want)

    def _has(self, want: Want) -> bool:
        """Tell whether the command itself sets something under its present name."""
        launch = self.launch if self._number is not None else None
        if launch is None:
            return False
        if want.kind == "env":
            return any(item.name == want.name for item in launch.env)
        given = [a.name for a in (*launch.args, *launch.launcher) if a.via == "arg"]
        return any(same(name, want.old or want.name) for name in given)

    def _bring(self, want: Want, change: Change) -> None:
        """Bring every place that sets it to what is wanted; where none does, add it to one."""
        key = configs.as_key(want, self.launch)
        names = configs.config_names(self.launch, self._texts)
        if not self._has(want):
            key = configs.homed(key, {name: self._texts[name] for name in names})
        setting = [n for n in names if self._counts_in(n, key)]
        written = self._written(key) if want.kind == "arg" else False
        here = self._has(want)
        if self._number is not None and self._reading is not None and not here:
            here = holds(self.launch, want) and want.values is not None
        if here:
            self._in_script(want)
        for name in setting:
            self._in_config(name, key)
        if here or setting or written or self._in_program(want) or want.values is None:
            return
        self._add(want, key, change)

    def _in_program(self, want: Want) -> bool:
        """Change a keyword of the Python program, or add one; False: it takes none of this."""
        program = program_of(self.launch, self._texts)
        if program is None or want.kind != "arg":
            return False
        text = self._texts[program]
        option = option_of(text, want) if self._number is not None else None
        if option is not None and want.values is not None and not want.old:
            self._in_script(want._replace(name=option))
            return True
        after = source_with(program, text, want)
        if after is None and takes_keywords(text):
            raise Unplaced(f"{program} sets {want.name} itself: change it there by hand")
        self._texts[program] = after or text
        return after is not None

    def _counts_in(self, name: str, key: Want) -> bool:
        """Tell whether a configuration decides a key: DeepSpeed's own "auto" leaves it open."""
        text = self._texts[name]
        if "." not in key.name and configs.is_open(text, key):
            return False
        return configs.sets(text, key) or (key.values is not None and configs.is_so(text, key))

    def _add(self, want: Want, key: Want, change: Change) -> None:
        fitting = configs.for_adding(self.launch, self._texts, key)
        prefers_file = change.kind == "config_file" or (
            change.at is not None and change.at.source in fitting
        )
        if self._number is None or (prefers_file and fitting):
            if want.kind == "env" and key is want:
                raise Unplaced(f"{want.name} is a variable, and no script is at hand to set it in")
            if not fitting:
                raise Unplaced(f"no file at hand takes {want.name}: give the launch script")
            self._in_config(fitting[0], key)
            return
        if prefers_file and self._add_to_written(key):
            return
        self._in_script(want)

    def _in_script(self, want: Want) -> None:
        if self._reading is None or self._number is None:
            raise Unplaced(f"the command that takes {want.name} is not in a file at hand")
        after = brought(self._reading, self._number, want)
        if after is None:
            raise Unplaced(
                f"no edit of {self._reading.source} changes {want.name} alone: "
                "change it by hand where the command takes it from"
            )
        self._reading = after

    def _in_config(self, name: str, want: Want) -> None:
        after = configs.config_with(name, self._texts[name], want)
        if after is None:
            raise Unplaced(f"no edit of {name} changes {want.name} alone: change it by hand")
        self._texts[name] = after

    def _written(self, want: Want) -> bool:
        """Change a configuration the script writes itself; tell whether one sets this."""
        if self._reading is None:
            return False
        named = {configs.base(name) for name in self.launch.configs}
        mine = [
            (name, text)
            for name, text, _ in self._reading.script.written
            if configs.base(name) in named or configs.sets(text, want)
        ]
        if any(configs.is_so(text, want) and configs.sets(text, want) for _, text in mine):
            return True
        if not any(configs.sets(text, want) for _, text in mine):
            return False
        after = configs.written_with(self._reading, want)
        if after is None:
            raise Unplaced(f"no edit of the file the script writes changes {want.name} alone")
        self._reading = after
        return True

    def _add_to_written(self, want: Want) -> bool:
        """Add a key to the configuration of the launch that its script writes itself."""
        if self._reading is None:
            return False
        named = {configs.base(name) for name in self.launch.configs}
        if not any(configs.base(name) in named for name, _, _ in self._reading.script.written):
            return False
        after = configs.written_with(self._reading, want)
        self._reading = after or self._reading
        return after is not None

    def _stage(self, want: Want) -> str | None:
        """Give the value that names the wanted stage, None when what is set means it already."""
        given = [a for a in (*self.launch.args, *self.launch.launcher) if same(a.name, want.name)]
        for text in self._texts.values():
            given += [] if given else [a for a in configs.keys(text) if same(a.name, want.name)]
        present = given[-1].values[0] if given and given[-1].values else None
        source = self._reading.source if self._reading else next(iter(self._texts), "")
        found = staged((want.values or ("",))[0], present, source, self._texts, self._before)
        if found.text is not None:
            self._texts[found.name] = found.text
        return found.value
