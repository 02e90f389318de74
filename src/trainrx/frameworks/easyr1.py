"""EasyR1, a fork of verl: https://github.com/hiyouga/EasyR1.

It merges its file and the words by OmegaConf (verl/trainer/main.py); verl, with the same names of
data, is given `--config-name` by Hydra.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, ClassVar

from trainrx.frameworks.common.tables import TableContext, Tables
from trainrx.frameworks.verl import Verl
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
from trainrx.model.facts import Facts
from trainrx.model.job import RawLaunch, Role
from trainrx.model.pattern import late

if TYPE_CHECKING:
    from trainrx.frameworks.common.dumps import DumpForm


_KEYS = ("worker.actor.", "worker.rollout.", "worker.ref.", "worker.reward.")
_FILE = late(r"config=\S*\.ya?ml")
_DATA = ("data.train_files=", "data.val_files=", "data.rollout_batch_size=")


class EasyR1(Verl):
    """EasyR1's one program: those of verl are all called `main_...`."""

    name = "easyr1"
    folders: ClassVar[tuple[str, ...]] = ()
    """Its code lies in a folder `verl`."""
    checkout = ("https://github.com/hiyouga/EasyR1", "pip install -e .")
    fork_of = "verl"
    installed_as = "verl"
    """By its setup.py."""
    path = late(r"(?:.*[./])?verl[./]trainer[./](?P<name>main)(?:\.py)?")
    bare_programs = (("", "python3 -m verl.trainer.main"),)
    default_command = "ppo"
    policy_gradient = frozenset({"ppo"})
    unset_advantage = "grpo"
    """Its verl/trainer/config.py."""
    composed = False
    model_arguments = frozenset({"worker.actor.model.model_path"})
    catalog_commands = ()
    also_called = ("easy-r1",)
    nests_changes = True
    telling_keys = frozenset(
        {"worker.actor", "worker.rollout", "worker.ref", "data.rollout_batch_size"}
        | {"worker.actor.model.model_path", "worker.reward.reward_function"}
    )
    usual_keys = frozenset({"data", "algorithm", "worker", "trainer", "trainer.n_gpus_per_node"})

    def recognise(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Read its program, or one of someone's own that takes what it takes."""
        texts = [word.text for word in entry.args]
        filed = any(_FILE.fullmatch(text) for text in texts)
        own = any(text.startswith(_KEYS) for text in texts) or (
            filed and any(text.startswith(_DATA) for text in texts)
        )
        return self.launch("ppo", entry.args) if own else self.by_path(entry)

    def role(self, command: str, program: str, names: Collection[str]) -> Role:
        """It does nothing but train."""
        return "trainer"

    def usual_strategy(self, launch: RawLaunch) -> str:
        """It has no other (workers/fsdp_workers.py)."""
        return "fsdp"

    # Memory ---------------------------------------------------------------------------------------
    adapters_on_bf16 = True
    """workers/fsdp_workers.py."""
    keeps_two_bytes = True
    tokens_per_gpu = False
    never_cuts = True
    """The limits of its file are of completions, and it trains on nothing else."""
    dynamic_by_longest = True
    """workers/actor/dp_actor.py."""
    engine_share = 0.6
    """workers/rollout/config.py."""
    full_critic = False

    def critic_leaves(self, facts: Facts) -> None:
        """Nothing of it is measured."""

    def copies_on_host(self, facts: Facts) -> bool:
        """Nothing of it is measured."""
        return False

    def fsdp_version(self, facts: Facts, strategy: str) -> int:
        """It has no other way (workers/fsdp_workers.py)."""
        return 1

    # Batches, processes and roles -----------------------------------------------------------------
    full_without_adapter = True
    """To 0.3.2 it has no adapters at all."""
    stands_by = ()

    def sharing(self, facts: Facts) -> tuple[str, ...] | None:
        """It is the Ulysses degree (workers/fsdp_workers.py)."""
        return ("parallel.sequence",)

    def fsdp_shards(self, facts: Facts, world: int | None) -> int | None:
        """All ranks, or as many as fsdp_size says."""
        return facts.whole("parallel.fsdp_size") or world

    def has_reference(self, facts: Facts, task: str) -> bool | None:
        """Read `algorithm.disable_kl`: without it there is one, wherever the KL term goes."""
        counts, tuner = facts.value("rlhf.kl_in_reward"), facts.text("tuner.type")
        if counts is False or tuner == "lora":
            return False
        return True if counts is True and tuner == "full" else None

    def has_reward_model(self, facts: Facts, task: str) -> bool | None:
        """It scores by a function (workers/reward)."""
        return False

    def takes_only_listed(self, launch: RawLaunch) -> bool:
        """It has no catalog."""
        return False

    def tables(self, context: TableContext) -> Tables:
        """It has no catalog."""
        return Tables(context.command)

    def dumps(self) -> Iterable[DumpForm]:
        """Give the configuration it prints as JSON; what opens it stands on the line above."""
        from trainrx.frameworks.common.dumps import DumpForm, Read, read_json

        def read(text: str, _: str) -> Read | None:
            own = text.partition("\n")[2].lstrip().startswith('"train_files"')
            return read_json("{" + text, self.name) if own else None

        yield DumpForm(b'"data": {\n', read)


FRAMEWORK = EasyR1()
