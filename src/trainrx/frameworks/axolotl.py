"""axolotl: https://github.com/axolotl-ai-cloud/axolotl."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from trainrx.frameworks.base import Framework
from trainrx.frameworks.common.tables import TableContext, Tables
from trainrx.frameworks.common.task import NOTHING, TaskFound, find, is_complete
from trainrx.model.facts import Facts
from trainrx.model.job import RawArg, RawLaunch, Role, Setting
from trainrx.model.pattern import late

if TYPE_CHECKING:
    from trainrx.frameworks.common.dumps import DumpForm


_PLUGIN = late(r"axolotl\.integrations\.\w+")
_TASKS = {"ipo": "dpo", "dpo": "dpo", "simpo": "simpo", "orpo": "orpo", "kto": "kto"}
_TASKS |= {"grpo": "grpo", "gdpo": "grpo"}


class Axolotl(Framework):
    """axolotl's commands, and the modules behind them."""

    name = "axolotl"
    folders = ("axolotl",)
    spelled = True
    programs = ("axolotl",)
    commands = frozenset(
        {"train", "inference", "merge-lora", "preprocess", "evaluate", "lm-eval", "quantize"}
        | {"merge-sharded-fsdp-weights", "vllm-serve"}
    )
    path = late(r"(?:.*[./])?axolotl[./]cli[./](?P<name>\w+?)(?:\.py)?")
    default_command = "train"
    command_roles: ClassVar[Mapping[str, Role]] = {
        "preprocess": "preparation",
        "inference": "inference",
        "evaluate": "evaluation",
        "lm-eval": "evaluation",
        "merge-lora": "export",
        "merge-sharded-fsdp-weights": "export",
        "quantize": "export",
        "vllm-serve": "rollout",
    }
    parser = "keys"
    nested_files = True
    nests_changes = True
    telling_keys = frozenset({"base_model", "sequence_len", "micro_batch_size", "sample_packing"})
    usual_keys = frozenset({"datasets", "adapter", "val_set_size", "lora_r"})

    def task(
        self,
        command: str,
        launch: RawLaunch,
        configs: Sequence[RawArg],
        settings: Mapping[str, Setting],
    ) -> TaskFound | None:
        """Read `rl`; without it and without a reward model it is supervised fine-tuning."""
        if command != "train":
            return None
        kind = settings.get("rlhf.type")
        if kind is not None:
            found = _TASKS.get(kind.value.lower()) if isinstance(kind.value, str) else None
            return (found, kind.origins) if found else NOTHING
        for name in ("reward_model", "process_reward_model"):
            arg = find(name, launch, configs)
            if arg is not None and arg.values and arg.values[0].lower() == "true":
                return "rm", (arg.origin,)
        return ("sft", (launch.origin,)) if is_complete(launch, configs) else NOTHING

    hf_trainer = True
    checkpoints = False
    freezes_tower = False
    peft_targets = True
    loads_as = "computed"
    splits_matrices = True
    """AutoTP."""
    cuts_samples = True
    full_without_adapter = True
    """loaders/model.py."""
    stands_by = ("transformers", "trl")

    def mixes(self, facts: Facts, *, sharded: bool) -> bool | None:
        """bf16: auto, which is on where the card has it (axolotl/utils/config/__init__.py)."""
        return None if "train.precision" in facts else True

    def sharing(self, facts: Facts) -> tuple[str, ...] | None:
        """Context x tensor (utils/config/__init__.py: normalize_config)."""
        return "parallel.tensor", "parallel.sequence"

    def tables(self, context: TableContext) -> Tables:
        """Add the keys of plugins turned on, and the options of the program when it has some."""
        plugins = ((_PLUGIN.match(value), value) for value in context.values("plugins"))
        wanted = [f"plugin:{found[0] if found else value}" for found, value in plugins]
        wanted += [f"cli {context.launch.command}"] if context.launch.args else []
        known = tuple(dict.fromkeys(name for name in wanted if name in context.listed))
        return Tables(context.command, known, closed=len(known) == len(set(wanted)))

    def dumps(self) -> Iterable[DumpForm]:
        """Give the configuration as axolotl/cli/config.py prints it."""
        from trainrx.frameworks.common.dumps import DumpForm, read_json

        yield DumpForm(b"config:\n{", lambda text, _: read_json(text[8:], self.name, "train"))


FRAMEWORK = Axolotl()
