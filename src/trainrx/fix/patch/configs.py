"""Configuration files brought to what is wanted, those a script writes itself included."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence

from trainrx.fix.patch.mappings import mapping_edits
from trainrx.fix.patch.proof import DocumentMeaning, changed_so, given, read
from trainrx.fix.patch.wanted import OffsetEdit, Want, applied, same
from trainrx.frameworks import framework_of
from trainrx.inputs.config import read_config
from trainrx.launch.config_kinds import classify_config
from trainrx.model.job import RawArg, RawLaunch
from trainrx.shell.quotes import here_documents

_DEEPSPEED = ("zero_optimization", "bf16", "fp16", "optimizer", "scheduler", "aio")
OF_ZERO = frozenset(
    {
        "allgather_bucket_size",
        "allgather_partitions",
        "contiguous_gradients",
        "overlap_comm",
        "reduce_bucket_size",
        "reduce_scatter",
        "round_robin_gradients",
        "sub_group_size",
    }
)
"""Keys that DeepSpeed reads in `zero_optimization` alone, beside those of stage 3."""
_ACCELERATE = ("deepspeed_config.", "fsdp_config.", "num_processes", "num_machines", "mixed_")


def base(name: str) -> str:
    """Give the last part of a path."""
    return posixpath.basename(name.replace("\\", "/"))


def config_names(launch: RawLaunch, texts: Mapping[str, str]) -> list[str]:
    """Give the configurations of a launch, its framework's own first."""
    kinds = {name: classify_config(text) for name, text in texts.items()}
    named = {base(name) for name in launch.configs}

    def far(name: str) -> tuple[bool, bool]:
        return base(name) not in named, kinds[name] != (launch.framework or None)

    usable = [name for name in texts if kinds[name] is not None or base(name) in named]
    return sorted((name for name in usable if kinds[name] != "args"), key=far)


def as_key(want: Want, launch: RawLaunch) -> Want:
    """Give what is wanted as a key of a file: a variable stands in a section of its own."""
    section = framework_of(launch.framework).environment_key
    if want.kind == "env" and section:
        return want._replace(kind="arg", name=f"{section}.{want.name}")
    return want


def homed(want: Want, texts: Mapping[str, str]) -> Want:
    """Give a key under the section it stands in, or belongs into, where a file has that section.

    People and messages name `overlap_comm`; the file has it in `zero_optimization`.
    """
    if want.kind != "arg" or "." in want.name or any(sets(text, want) for text in texts.values()):
        return want
    held = [arg.name for text in texts.values() for arg in keys(text)]
    places = {name for name in held if name.endswith(f".{want.name}")}
    sections = {name.partition(".")[0] for name in held if "." in name}
    places = places or {f"{at}.{want.name}" for at in sections if _belongs(want.name, at)}
    return want._replace(name=places.pop()) if len(places) == 1 and not want.old else want


def _belongs(name: str, section: str) -> bool:
    if section == "fsdp_config":
        return name.startswith("fsdp_")
    return section == "zero_optimization" and (name in OF_ZERO or name.startswith("stage3_"))


def sets(text: str, want: Want) -> bool:
    """Tell whether a configuration sets what a wish is about, under its present name."""
    name = want.old or want.name
    return any(same(arg.name, name) for arg in _keys(text) or ())


def is_open(text: str, want: Want) -> bool:
    """Tell whether DeepSpeed's configuration leaves a key to the trainer."""
    held = [arg.values for arg in keys(text) if same(arg.name, want.name)]
    return held[-1:] == [("auto",)] and classify_config(text) == "deepspeed"


def keys(text: str) -> tuple[RawArg, ...]:
    """Give what a configuration sets, nothing of one that cannot be read."""
    return _keys(text) or ()


def _keys(text: str) -> tuple[RawArg, ...] | None:
    args, unread = read_config(text, "")
    return None if unread else args


def is_so(text: str, want: Want) -> bool:
    """Tell whether a configuration is as wanted already."""
    args = _keys(text) or ()
    if want.old and any(same(arg.name, want.old) for arg in args):
        return False
    found = [arg for arg in args if same(arg.name, want.name)]
    if want.values is None or not found:
        return want.values is None and not found
    return want.keeps or _alike(found[-1].values, want.values or ("true",))


def _alike(values: tuple[str, ...] | None, wanted: tuple[str, ...]) -> bool:
    words = ("true", "false", "null", "none")
    lowered = [
        tuple(w.lower() if w.lower() in words else w for w in v or ()) for v in (values, wanted)
    ]
    return values is not None and lowered[0] == lowered[1]


def for_adding(launch: RawLaunch, texts: Mapping[str, str], want: Want) -> list[str]:
    """Give the configurations a key that is new may go into, the right one first."""
    kinds = {name: classify_config(text) for name, text in texts.items()}
    names = config_names(launch, texts)
    if want.name.startswith(_DEEPSPEED) and "deepspeed" in kinds.values():
        return [name for name in names if kinds[name] == "deepspeed"]
    if want.name.startswith(_ACCELERATE) and "accelerate" in kinds.values():
        return [name for name in names if kinds[name] == "accelerate"]
    own = [name for name in names if kinds[name] == launch.framework]
    named = {base(name) for name in launch.configs}
    return own or [n for n in names if base(n) in named and kinds[n] != "deepspeed"]


def config_with(name: str, text: str, want: Want) -> str | None:
    """Give a configuration with one thing as wanted; None when no edit does just that."""
    if is_so(text, want):
        return text
    before = _keys(text)
    for edits in mapping_edits(name, text, want) if before is not None else ():
        try:
            after = applied({name: text}, edits)[name]
        except ValueError:
            continue
        found = _keys(after)
        if found is not None and _changed(before or (), found, want):
            return after
    return None


def _changed(before: Sequence[RawArg], after: Sequence[RawArg], want: Want) -> bool:
    old, new = list(given(before)), list(given(after))
    if want.values is None:
        # a section is left out with its last key
        return changed_so(old, new, want)
    meant = want if want.values or want.keeps else want._replace(values=("true",))
    here = [n for n, item in enumerate(new) if same(item[0], meant.name)]
    if here and meant.values and _alike(new[here[-1]][1], meant.values):
        meant = meant._replace(values=new[here[-1]][1])
    return changed_so(old, new, meant)


def written_with(reading: DocumentMeaning, want: Want) -> DocumentMeaning | None:
    """Give a script of which a here-document, that is a configuration, is as wanted."""
    for name, _, line in reading.script.written:
        for place, start, stop in _bodies(reading, line):
            text = reading.documents[place]
            body = config_with(name, text[start:stop], want)
            if body is None or body == text[start:stop]:
                continue
            documents = applied(reading.documents, [OffsetEdit(place, start, stop, body)])
            after = read(documents, reading.source, reading)
            if _only_written(reading, after, name):
                return after
    return None


def _bodies(reading: DocumentMeaning, line: int) -> Iterator[tuple[str, int, int]]:
    for place, text in reading.documents.items():
        for body in here_documents(text):
            if text.count("\n", 0, body.start) + 1 == line:
                yield place, body.start, body.stop


def _only_written(before: DocumentMeaning, after: DocumentMeaning, name: str) -> bool:
    """Tell whether nothing but one file a script writes is different."""
    if len(before.script.written) != len(after.script.written):
        return False
    files = all(
        old[:2] == new[:2] or old[0] == new[0] == name
        for old, new in zip(before.script.written, after.script.written, strict=True)
    )
    alike = [
        given(a.args) == given(b.args)
        and [(i.name, i.value) for i in a.env] == [(i.name, i.value) for i in b.env]
        for a, b in zip(before.launches, after.launches, strict=False)
    ]
    return files and len(before.launches) == len(after.launches) and all(alike)
