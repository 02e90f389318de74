"""What a batch script asks its scheduler for: `#SBATCH` lines and their like, and what follows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from trainrx.model.pattern import late
from trainrx.shell.prepare import Prepared
from trainrx.shell.values import Field

Directive = tuple[str, str, int]
"""Name, value and line."""
MOST = 1000
"""Directives of a script, at most."""
_SHORT = {
    "N": "nodes",
    "n": "ntasks",
    "c": "cpus-per-task",
    "J": "job-name",
    "p": "partition",
    "G": "gpus",
}
_SET: Mapping[str, tuple[str, ...]] = {
    "nodes": ("SLURM_NNODES", "SLURM_JOB_NUM_NODES"),
    "ntasks": ("SLURM_NTASKS", "SLURM_NPROCS"),
    "ntasks-per-node": ("SLURM_NTASKS_PER_NODE",),
    "cpus-per-task": ("SLURM_CPUS_PER_TASK",),
    "gpus": ("SLURM_GPUS",),
    "job-name": ("SLURM_JOB_NAME",),
    "partition": ("SLURM_JOB_PARTITION",),
}
"""Options and the variables that hold their value: sbatch(1), OUTPUT ENVIRONMENT VARIABLES.
https://slurm.schedmd.com/sbatch.html"""
_WORDS = frozenset({"job-name", "partition"})
_COUNT = late(r"[0-9]{1,6}")
_TYPED = late(r"(?:[A-Za-z][\w.-]{0,40}:)?([0-9]{1,4})")
_GPUS = late(r"(?:gres/)?gpu(?::[A-Za-z][\w.-]{0,40})?[:=]([0-9]{1,4})")
_DIRECTIVE = late(r"^#(?P<of>SBATCH|BSUB|PBS|\$)[ \t]+(?P<options>-[^\n]*)$", re.MULTILINE)
_REMARK = late(r"(?:^|\s)#.*")
_OPTION = late(r"--?[A-Za-z].*")
_SIGNS = ("#SBATCH", "#BSUB", "#PBS", "#$")


def directives_of(prepared: Prepared) -> tuple[Directive, ...]:
    """Give what the directives of a script ask for."""
    found: list[tuple[str, str, int]] = []
    if not any(sign in prepared.text for sign in _SIGNS):
        return ()
    for match in _DIRECTIVE.finditer(prepared.text):
        line = prepared.lines.number(match.start())
        found += ((*one, line) for one in _options(match["options"], slurm=match["of"] == "SBATCH"))
        if len(found) > MOST:
            break
    return tuple(found[:MOST])


def _options(text: str, *, slurm: bool) -> Iterator[tuple[str, str]]:
    """Give the options of one line, with what stands behind each up to the next one."""
    import shlex  # few scripts are for a scheduler

    text = _REMARK.sub("", text)
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    name, values = "", list[str]()
    for word in words:
        if not _OPTION.fullmatch(word):
            values.append(word)
            continue
        if name:
            yield name, " ".join(values)
        name, sign, value = word.lstrip("-").partition("=")
        if slurm and not word.startswith("--"):
            # -N2, -N=2 and -N 2
            name, value = name[0], name[1:] + value
        values = [value] if sign or value else []
    if name:
        yield name, " ".join(values)


def allotted(directives: Iterable[Directive]) -> dict[str, str]:
    """Give the variables whose value follows from the directives; a range (`2-4`) tells none."""
    found: dict[str, str] = {}
    for name, value, _ in directives:
        option = _SHORT.get(name, name)
        text = value.strip().strip("\"'")
        if option == "gres" and (match := _GPUS.fullmatch(text)) is not None:
            found["SLURM_GPUS_ON_NODE"] = match[1]
        elif option == "gpus-per-node" and (match := _TYPED.fullmatch(text)) is not None:
            found |= {"SLURM_GPUS_PER_NODE": text, "SLURM_GPUS_ON_NODE": match[1]}
        elif (option in _WORDS and "%" not in text) or _COUNT.fullmatch(text):
            found.update(dict.fromkeys(_SET.get(option, ()), text))
    nodes, each = found.get("SLURM_NNODES"), found.get("SLURM_NTASKS_PER_NODE")
    if nodes and each:
        found.setdefault("SLURM_NTASKS", str(int(nodes) * int(each)))
    return found


def as_options(directives: Iterable[Directive], first: int) -> list[Field]:
    """Give directives as options of sbatch; `first` is the number of the script's first line."""
    found: list[Field] = []
    for name, value, line in directives:
        texts = (
            [f"-{name}", value]
            if len(name) == 1
            else [f"--{name}={value}" if value else f"--{name}"]
        )
        found += (Field(text, first + line - 1) for text in texts if text)
    return found


def as_directives(options: Sequence[Field]) -> list[Directive]:
    """Give options of sbatch as directives."""
    found: list[Directive] = []
    for at, field in enumerate(options):
        name, sign, value = field.text.lstrip("-").partition("=")
        after = options[at + 1].text if at + 1 < len(options) else "-"
        if field.text.startswith("-") and (sign or not after.startswith("-")):
            found.append((name, value if sign else after, field.line))
    return found


def folder_told(wrapper: Sequence[Field]) -> tuple[str, list[Field]]:
    """Take the folder of `sbatch -D X` or `srun --chdir=X` off its options, "" without.

    https://slurm.schedmd.com/sbatch.html (-D, --chdir)
    """
    told, kept, words = "", list[Field](), iter(wrapper)
    for field in words:
        name, sign, value = field.text.partition("=")
        if name == "--chdir" and sign:
            told = value
        elif field.text in ("-D", "--chdir"):
            told = next((one.text for one in words), "")
        else:
            kept.append(field)
    return told, kept
