"""Pai-Megatron-Patch of Alibaba Cloud: https://github.com/alibaba/Pai-Megatron-Patch.

Its launch scripts (examples/*/run_mcore_*.sh) take some twenty words and put Megatron's arguments
together; what torchrun starts is one of the programs beside them (pretrain_qwen.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from trainrx.frameworks.base import Framework
from trainrx.frameworks.common.script import argument_names
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
from trainrx.model.job import Role, Word
from trainrx.model.pattern import late

if TYPE_CHECKING:
    from trainrx.frameworks.common.dumps import DumpForm, Read, Value

_OWN = frozenset(
    {"patch_tokenizer_type", "extra_vocab_size", "max_padding_length", "train_mode", "n_head_kv"}
    | {"optimizer_offload_policy", "transformer_type"}
)
"""Arguments of megatron_patch/arguments.py that Megatron-LM does not have; two of them tell."""
_TOOLS = {
    "model_checkpoints_convertor": "export",
    "distributed_checkpoints_convertor": "export",
    "pretrain_data_preprocessing": "prepare",
    "sft_data_preprocessing": "prepare",
}
_PROGRAM = late(r"(?i:(?:.*/)?pai-megatron-patch)[^/]*/examples/.*\.py")
_PRINTED = late(r"(?m)^.{0,80}?  (\w{1,60}) \.{2,60} (.{0,200})$")
_END = "end of arguments"


class PaiMegatronPatch(Framework):
    """Its programs under examples/, known by their arguments, and its tools."""

    name = "pai-megatron-patch"
    spelled = True
    also_called = ("megatron-patch", "pai-megatron")
    folders = ("megatron_patch", "Pai-Megatron-Patch")
    checkout = (
        "https://github.com/alibaba/Pai-Megatron-Patch",
        "git submodule update --init --recursive",
    )
    path = late(r"(?:.*/)?toolkits/(?P<name>\w+_convertor|\w+_data_preprocessing)/.*\.py")
    command_roles: ClassVar[Mapping[str, Role]] = {"export": "export", "prepare": "preparation"}
    parser = "argparse"
    model_arguments = frozenset({"load"})
    refuses_unknown = True
    global_batch = True
    memory_measured = False

    def recognise(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Read one of its tools or programs, or one that takes what only the patch adds."""
        own = len(argument_names(entry.args) & _OWN) > 1
        if own or _PROGRAM.fullmatch(entry.path.text):
            return self.launch(_command(_given(entry.args, "train_mode")), entry.args)
        return self.by_path(entry)

    def named_by(self, name: str) -> str:
        """Tools convert checkpoints, or prepare data."""
        return _TOOLS.get(name, "prepare")

    def role(self, command: str, program: str, names: Collection[str]) -> Role:
        """Megatron's commands train."""
        return self.command_roles.get(command, "trainer")

    def dumps(self) -> Iterable[DumpForm]:
        """Give Megatron's list of all arguments, where those of the patch are among them."""
        from trainrx.frameworks.common.dumps import DumpForm

        yield DumpForm(b" arguments ------------------------", lambda text, _: _read(text))


def _command(mode: str) -> str:
    return "megatron sft" if mode == "finetune" else "megatron pt"


def _given(args: Sequence[Word], name: str) -> str:
    """Give the word behind a flag."""
    for word, value in pairwise(args):
        if word.text.lstrip("-").replace("-", "_") == name:
            return value.text
    return ""


def _read(text: str) -> Read | None:
    """Read `  name ........ value` lines as far as the end of the list."""
    from trainrx.frameworks.common.dumps import Read
    from trainrx.inputs.reprs import read_scalar

    values: list[Value] = []
    for number, line in enumerate(text.split("\n")):
        found = _PRINTED.search(line)
        if found is not None:
            values.append((found[1], (read_scalar(found[2].strip()),), number))
        elif _END in line:
            break
    told = {name: texts[0] for name, texts, _ in values if texts}
    if "patch_tokenizer_type" not in told:
        return None
    return Read("pai-megatron-patch", _command(told.get("train_mode", "")), "arguments", values)


FRAMEWORK = PaiMegatronPatch()
