"""What a framework decides of batches, processes and roles, with what holds where it says nothing.

Roles: trainer, rollout engine, reference model, value model (critic) and reward model. True, False,
or None where it cannot be told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from trainrx.model.facts import Facts

if TYPE_CHECKING:
    from trainrx.model.job import RawLaunch

ONLINE = frozenset({"grpo", "ppo"})
"""Tasks that train the model on its own completions."""
ADAPTERS = frozenset({"lora", "qlora", "dora", "adalora", "longlora"})
Mode = tuple[str, tuple[str, ...]]
"""Where the engine runs, and the parameters that tell; "" where it cannot be told."""
OPEN: Mode = ("", ())


class LayoutTraits:
    """The part of the protocol the layout of a job follows from."""

    __slots__ = ()

    # Batches --------------------------------------------------------------------------------------
    global_batch: ClassVar[bool] = False
    """Is told the samples of a step, and works out the accumulation."""
    batch_of_prompts: ClassVar[bool] = False
    """Online, the samples of a step are prompts with all their completions."""
    prompts_per_step: ClassVar[bool] = False
    """Is told the prompts of a rollout."""
    generation_batch: ClassVar[tuple[str, str, str] | None] = None
    """Releases from which on a generation batch is the micro-batches of all processes x
    accumulation, is something else, and is those x steps_per_generation."""
    checks_generations: ClassVar[bool] = False
    """Stops where the generation batch is no multiple of the completions of a prompt."""

    # Processes ------------------------------------------------------------------------------------
    process_per_gpu: ClassVar[bool] = False
    """Starts one process per visible GPU."""

    replicates_over_cards: ClassVar[bool] = False
    """A single process trains a replica on each card it sees (torch.nn.DataParallel)."""

    def sharing(self, facts: Facts) -> tuple[str, ...] | None:
        """Name the degrees whose ranks work on the same samples; None where that is not known."""
        return None

    def usual_strategy(self, launch: RawLaunch) -> str:
        """Name the strategy of its own configuration, which holds where words may be hidden."""
        return ""

    def roles_apart(self, facts: Facts) -> bool:
        """Tell whether each model of online training has processes of its own."""
        return False

    def fsdp_shards(self, facts: Facts, world: int | None) -> int | None:
        """Count the cards FSDP splits a copy of the weights over; None where that is not known."""
        setting = (facts.text("parallel.fsdp") or "").lower()
        if "hybrid" in setting:
            return facts.whole("parallel.processes_per_node") if "zero2" not in setting else 1
        if "shard_grad_op" in setting:
            return 1
        return world if "full_shard" in setting or setting.startswith("fsdp2") else None

    # What holds unless told -----------------------------------------------------------------------
    full_without_adapter: ClassVar[bool] = False
    """Without an adapter all weights are trained."""
    computes_as_stored: ClassVar[int | None] = None
    """Major release since which it computes in the type a checkpoint is stored in, unless told."""
    tower_like_rest: ClassVar[str] = ""
    """Releases whose vision tower is checkpointed like the rest unless told."""
    pixels_of_qwen: ClassVar[bool] = False
    """The pixels of an image are limited by Qwen's own tools unless told."""

    def unread(self, facts: Facts) -> frozenset[str]:
        """Give the parameters of the launch this release does not read for this model."""
        return frozenset()

    # Roles ----------------------------------------------------------------------------------------
    own_model_types: ClassVar[bool] = False
    """The type of a model is a name of its own."""
    own_messages: ClassVar[frozenset[str]] = frozenset()
    """Symptoms whose message nothing else prints."""
    stands_by: ClassVar[tuple[str, ...]] = ()
    """Packages whose place in the range it wants is a fact of its own."""
    now_first_word: ClassVar[str] = ""
    """An argument that was removed since its value is now the first word, without a name."""
    names_refused_template: ClassVar[bool] = False
    """Refuses a template in words that tell its name, as it looks it up in its own register."""

    ppo_critic: ClassVar[bool | None] = None
    """PPO trains a value model of its own; a head of the actor is none."""
    spans_cards: ClassVar[bool] = True
    """One process may spread the model over all cards it sees."""

    def has_engine(self, facts: Facts) -> bool:
        """Tell whether an inference engine is known to generate samples."""
        return facts.value("vllm.enabled") is True

    def samples_itself(self, facts: Facts) -> bool:
        """Tell whether the trained model generates without an engine."""
        return facts.value("vllm.enabled") is False

    def rollout_mode(self, facts: Facts) -> Mode | None:
        """Tell where the engine runs; None where the count of cards tells."""
        return None

    def has_reference(self, facts: Facts, task: str) -> bool | None:
        """Tell whether a task that compares with a reference model loads one of its own."""
        return None

    def has_critic(self, facts: Facts, task: str) -> bool | None:
        """Tell whether a value model of its own is trained."""
        return self.ppo_critic if task == "ppo" else False

    def has_reward_model(self, facts: Facts, task: str) -> bool | None:
        """Tell whether online training has a reward model, where no setting of its own tells."""
        return True if "rlhf.reward_model" in facts else None


def by_beta(facts: Facts, *, zero: bool | None = False, unknown: bool | None) -> bool | None:
    """Tell whether GRPO has a reference model: it takes a KL coefficient above 0."""
    beta = facts.number("rlhf.beta")
    return unknown if beta is None else True if beta else zero


def switched_off(facts: Facts, task: str, *, grpo: bool | None) -> bool | None:
    """Tell of trainers that have their model without its adapter, if it has one, for a reference.

    Args:
        facts: what is known of the job.
        task: what is trained.
        grpo: what holds of GRPO without adapters.
    """
    tuner = facts.text("tuner.type")
    if tuner is None:
        return None
    return False if tuner in ADAPTERS else grpo if task == "grpo" else True


def critic_by_advantage(facts: Facts) -> bool | None:
    """Tell whether a value model is trained by its switch, else by the advantage estimator."""
    given, estimator = facts.value("rlhf.critic_enabled"), facts.text("rlhf.advantage")
    if isinstance(given, bool):
        return given
    return None if estimator is None else estimator == "gae"
