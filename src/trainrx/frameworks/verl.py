"""verl: https://github.com/volcengine/verl."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from trainrx.frameworks.base import Framework
from trainrx.frameworks.common.roles import script_role
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
from trainrx.model.job import RawArg, Role
from trainrx.model.pattern import late

_KEY = "actor_rollout_ref."
_FILES = (".json", ".yaml", ".yml")


class Verl(Framework):
    """verl's trainers, recipes and tools."""

    name = "verl"
    spelled = True
    precedence = -1
    path = late(
        r"(?:.*[./])?(?:verl[./](?:trainer|model_merger|experimental[./]\w+)|recipe[./]\w+"
        r"|verl(?=[./]model_merger))[./](?P<name>\w+?)(?:\.py)?"
    )
    bare_programs = (("", "python3 -m verl.trainer.main_ppo"),)
    file_flags = ("config",)
    policy_gradient = frozenset({"ppo", "ppo_trainer"})
    takes_overrides = True
    only_assigns = True
    edits_assigned = True
    omegaconf = True
    nested_files = True
    lora_by_rank = True
    telling_keys = frozenset({"actor_rollout_ref", "algorithm", "trainer.n_gpus_per_node"})
    usual_keys = frozenset({"data", "trainer", "critic"})
    hybrid_engine = True

    def recognise(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Read its programs; one of someone's own takes the keys of its configuration."""
        own = any(word.text.lstrip("+~").startswith(_KEY) for word in entry.args)
        return self.by_path(entry) or (self.launch("ppo", entry.args) if own else None)

    def named_by(self, name: str) -> str:
        """Give the command: both programs of supervised training are `sft`."""
        found = super().named_by(name)
        return {"main": "ppo", "fsdp-sft-trainer": "sft", "sft-trainer": "sft"}.get(found, found)

    def role(self, command: str, program: str, names: Collection[str]) -> Role:
        """Name the role by the program, which the command is called after."""
        return script_role(command) or "trainer"

    def named_files(self, args: Sequence[RawArg]) -> Iterable[str]:
        """Give the file `--config-path` and `--config-name` stand for."""
        named = {arg.name: arg.values[0] for arg in args if arg.values}
        name = named.get("config_name")
        if name is not None:
            file = name if name.lower().endswith(_FILES) else f"{name}.yaml"
            folder = named.get("config_path", "").rstrip("/")
            yield f"{folder}/{file}" if folder else file


FRAMEWORK = Verl()
