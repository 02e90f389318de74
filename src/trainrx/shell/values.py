"""Values: what a variable holds, and marks for what is not known statically.

A mark is carried inside the text. It survives concatenation, splitting and re-parsing
(`eval "$CMD"`), so a word knows what it was made of.
"""

from __future__ import annotations

import re
from functools import partial, reduce
from itertools import product
from operator import mul
from typing import Literal

import msgspec

from trainrx.model.pattern import late

Kind = Literal[
    "env", "scheduler", "arg", "command", "branch", "loop", "array", "runtime", "value", "blank"
]

_OPEN, _CLOSE = "\ue000", "\ue001"
_MARK = late(f"{_OPEN}([0-9]+){_CLOSE}")
_FOREIGN = str.maketrans({_OPEN: "\ufffd", _CLOSE: "\ufffd", "\0": "\ufffd"})
_SCHEDULER = late(
    r"(?:(?:LOCAL|NODE|GROUP|ROLE)_)?RANK|(?:(?:LOCAL|GROUP|ROLE)_)?WORLD_SIZE|NNODES|HOSTNAME"
    r"|(?:MASTER|CHIEF)_(?:ADDR|PORT|IP|HOST)|NODE_(?:IP_LIST|COUNT|NUM|LIST|NAME)|NODENAME"
    r"|HOST_(?:NUM|GPU_NUM|IP)|POD_(?:NAME|IP|NAMESPACE)|TF_CONFIG|JOB_COMPLETION_INDEX"
    r"|(?:NVIDIA|ROCR|ASCEND)_VISIBLE_DEVICES|PE_HOSTFILE|NSLOTS|JOB_ID|AWS_BATCH_\w+"
    r"|RAY_(?:ADDRESS|HEAD\w*|NODE\w*|WORKER\w*|JOB\w*)"
    r"|(?:SLURM|SLURMD|PMI|PMIX|OMPI|MPI|MV2|PET|RDZV|TORCHELASTIC|HOROVOD"
    r"|MLP|VC|VK|ARNOLD|METIS|BYTED|DLC|PAI|AIHC|MA|LSB|LSF|LS|PBS|SGE|OAR|COBALT"
    r"|KUBERNETES|KUBEFLOW|VOLCANO|AZUREML|AZ_BATCH|SM|AIP|SENSECORE|SKYPILOT)_\w+"
)
"""Variables a scheduler, a platform or a launcher gives every process: torchrun and its elastic
agent, Slurm, MPI, LSF, PBS, SGE, Kubernetes operators (PET_, VC_), Volcengine (MLP_, ARNOLD_,
METIS_), Alibaba PAI, Baidu AIHC, ModelArts (MA_), SageMaker (SM_), Azure ML, Ray."""

_WHY: dict[Kind, str] = {
    "env": "is not set in this script (give the environment with --env)",
    "scheduler": "is set by the scheduler or launcher, not in this script",
    "arg": "is an argument of the script or function",
    "command": "is the output of a command",
    "branch": "depends on a condition that cannot be decided here",
    "loop": "changes in a loop",
    "array": "is an array whose elements are not followed here",
    "runtime": "differs from run to run",
    "value": "cannot be worked out here",
    "blank": "is a placeholder that was not filled in",
}


MAX_CHOICES = 8
"""Texts a value may have that are listed."""


class UnknownValue(msgspec.Struct, frozen=True):
    """What a mark stands for: why it is not known, its name, how to show it, what it may be.

    `formula`: arithmetic it was worked out by, of numbers and of other unknowns (`256/(4*@1)`).
    `courses`: what it may be where that holds other unknowns, with their marks.
    """

    kind: Kind
    name: str
    shown: str
    choices: tuple[str, ...] = ()
    formula: str = ""
    courses: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """Say in one line why the value is not known."""
        subject = (
            self.shown if self.kind in ("command", "value", "array", "blank") else f"${self.name}"
        )
        return f"{subject} {_WHY[self.kind]}"


def known(text: str) -> bool:
    """Tell whether a text carries no mark."""
    return _OPEN not in text


def literal(text: str) -> str:
    """Give what of a text is known: the text without its marks."""
    return text if known(text) else _MARK.sub("", text)


def without_marks(text: str) -> str:
    """Replace what could be taken for a mark in a text from outside."""
    return text if text.isascii() and "\0" not in text else text.translate(_FOREIGN)


def inherited_kind(name: str) -> Kind:
    """Give the kind of a variable that the script reads and never sets."""
    return "scheduler" if _SCHEDULER.fullmatch(name) else "env"


class Unknowns:
    """The marks of one script."""

    def __init__(self) -> None:
        self._marks: dict[UnknownValue, str] = {}
        self._all: list[UnknownValue] = []

    def mark(
        self,
        kind: Kind,
        name: str,
        shown: str = "",
        choices: tuple[str, ...] = (),
        courses: tuple[str, ...] = (),
    ) -> str:
        """Give the mark of an unknown value, the same one for the same unknown."""
        shown = shown or f"${name}"
        return self._mark(UnknownValue(kind, name, shown, choices, courses=courses))

    def courses(self, text: str) -> tuple[str, ...]:
        """List what a text that is one unknown may be, with the marks of other unknowns in it."""
        found = self.only(text)
        return () if found is None else found.courses or found.choices

    def _mark(self, item: UnknownValue) -> str:
        found = self._marks.get(item)
        if found is None:
            found = f"{_OPEN}{len(self._all)}{_CLOSE}"
            self._marks[item] = found
            self._all.append(item)
        return found

    def variable(self, name: str) -> str:
        """Give the mark of a variable that the script reads and never sets."""
        return self.mark(inherited_kind(name), name)

    def derived(self, root: UnknownValue, shown: str, formula: str = "") -> str:
        """Give the mark of something worked out from an unknown value."""
        return self._mark(UnknownValue(root.kind, root.name, shown, formula=formula))

    def formula(self, text: str) -> str:
        """Give the formula of a text that is one unknown value; "" where it holds anything else."""
        match = _MARK.fullmatch(text)
        found = None if match is None else self._find(match[1])
        if match is None or found is None:
            return ""
        return found.formula or f"@{int(match[1])}"

    def as_formula(self, text: str) -> str:
        """Put formulas in place of the marks of an expression."""
        return _MARK.sub(lambda match: f"({self.formula(match[0])})", text)

    def within(self, text: str) -> tuple[UnknownValue, ...]:
        """Name the unknowns a text carries, in order, each once."""
        if known(text):
            return ()
        found = (self._find(match[1]) for match in _MARK.finditer(text))
        return tuple(dict.fromkeys(item for item in found if item is not None))

    def only(self, text: str) -> UnknownValue | None:
        """Give the unknown a text consists of, or None when it holds anything else."""
        match = _MARK.fullmatch(text)
        return None if match is None else self._find(match[1])

    def alternatives(self, text: str) -> tuple[str, ...]:
        """List the texts that a text may stand for; nothing when they are too many or not known."""
        found = self.within(text)
        count = reduce(mul, (len(item.choices) for item in found), 1)
        if not found or count not in range(1, MAX_CHOICES + 1):
            return ()
        texts = []
        for choice in product(*(item.choices for item in found)):
            chosen = dict(zip(found, choice, strict=True))
            texts.append(_MARK.sub(partial(self._chosen, chosen), text))
        return tuple(dict.fromkeys(texts))

    def _chosen(self, chosen: dict[UnknownValue, str], match: re.Match[str]) -> str:
        found = self._find(match[1])
        return "" if found is None else chosen[found]

    def show(self, text: str) -> str:
        """Write a text for people, unknowns as `$NAME` or `$(command)`."""
        return text if known(text) else _MARK.sub(lambda match: self._shown(match[1]), text)

    def _find(self, number: str) -> UnknownValue | None:
        # Slicing ("${x:1}") never cuts a mark, but a hostile re-parse may still join digits.
        index = int(number) if len(number) < 9 else len(self._all)
        return self._all[index] if index < len(self._all) else None

    def _shown(self, number: str) -> str:
        found = self._find(number)
        return "?" if found is None else found.shown


class Field(msgspec.Struct, frozen=True):
    """A word after expansion; line 0: the line of the word it came from.

    `rows`: line ends inside it are those of the file, so that a script in it keeps its lines.
    """

    text: str
    line: int = 0
    rows: bool = False


class Variable(msgspec.Struct, frozen=True):
    """A value (an array has several) with the line it was set on.

    `lines` are those of the words inside the value, when it spans several; `script` is such a value
    with its line ends, for `eval`. `gone`: it was unset, which is not the same as never set:
    nothing is inherited. `default`: an argument of the script, or the environment, may set it to
    something else.
    """

    values: tuple[Field, ...]
    line: int
    array: bool = False
    exported: bool = False
    lines: tuple[int, ...] = ()
    script: str = ""
    gone: bool = False
    default: bool = False

    @property
    def text(self) -> str:
        """Give what `$name` stands for."""
        return self.values[0].text if self.values else ""


Snapshot = dict[str, Variable]


def element(array: Variable, index: int) -> Field | None:
    """Give an element, None when there is none."""
    inside = -len(array.values) <= index < len(array.values)
    return array.values[index] if inside else None


def with_element(
    array: Variable, index: int, item: Field, *, append: bool = False
) -> Variable | None:
    """Give the array with one element set, None when that leaves a gap."""
    values = list(array.values)
    if index == len(values):
        values.append(item)
    elif -len(values) <= index < len(values):
        text = values[index].text + item.text if append else item.text
        values[index] = msgspec.structs.replace(item, text=text)
    else:
        return None
    return msgspec.structs.replace(array, values=tuple(values), array=True)
