"""Weights, gradients and optimizer states: what lies on a card for good.

Sources: ZeRO (arXiv 1910.02054, section 3.1), LoRA (arXiv 2106.09685, section 4.1), QLoRA
(arXiv 2305.14314), PyTorch FSDP (arXiv 2304.11277), and the frameworks' own optimizers.
"""

from __future__ import annotations

from typing import NamedTuple

from trainrx.memory.model import Model, adapters_of
from trainrx.memory.phases import GIB, Use
from trainrx.model.constants import Constants
from trainrx.model.memory import Workload

STATES = {
    # how many values an optimizer keeps per trained parameter, and bytes of each
    # (0: as wide as the parameter itself)
    "adamw_torch": (2.0, 0.0),
    "adamw_kahan": (3.0, 0.0),
    "adamw_8bit": (2.0, 1.02),
    "adamw_bnb_8bit": (2.0, 1.02),
    "adamw_4bit": (2.0, 0.52),
    "paged_adamw_8bit": (2.0, 1.02),
    "paged_adamw": (2.0, 0.0),
    "adafactor": (0.01, 4.0),
    "sgd": (0.0, 0.0),
    "momentum": (1.0, 0.0),
    "muon": (1.1, 0.0),
    "lion": (1.0, 0.0),
}
SUB_GROUP = 1e9
"""Parameters DeepSpeed's ZeRO-3 updates at a time (`sub_group_size`, its default)."""
FULL_PRECISION = 4.0


class Local(NamedTuple):
    """Parameters of one model-parallel rank, before data parallelism divides them.

    `linear` are the matrices of its layers, `ends` embedding and head, `other` the tower and the
    rest; `shards` over how many ranks weights are spread, `data` over how many states may be.
    """

    linear: float
    ends: float
    other: float
    degree: float
    data: float
    shards: float

    @property
    def all(self) -> float:
        """All parameters of the rank."""
        return self.linear + self.ends + self.other


class Trained(NamedTuple):
    """Parameters that get gradients: how many, and bytes of each and of its gradient."""

    parameters: float
    width: float


def fill_states(use: Use, work: Workload, model: Model, k: Constants) -> None:
    """Fill in what lies on the card for good, and the update's temporary."""
    local = _local(work, model)
    trained = _weights(use, work, model, local, k)
    if work.precision == "deepspeed":
        _deepspeed(use, work, trained, local, k)
    elif work.precision == "megatron":
        _megatron(use, work, model, trained, local)
    else:
        _torch(use, work, model, trained, local, k)
    _let_go(use, work)
    _gathered(use, work, model, local, k)
    _ends(use, work, model, trained)
    _beside(use, work, local)


def _ends(use: Use, work: Workload, model: Model, trained: Trained) -> None:
    """Fill in what embedding and head take for a moment.

    Autocast makes a 2-byte copy of an fp32 head, which the backward needs. An embedding that is the
    head as well gets two gradients, which torch adds into a third; a loss fused with the head has
    made its own before.
    """
    whole = model.embedding / work.tensor
    upcast = work.precision == "upcast" and work.tuner == "full"
    wide = work.embeddings_upcast or upcast or work.weight_bytes > 2  # bytes
    if wide and work.precision in ("autocast", "upcast") and not work.zero_stage:
        use.head = (model.head or model.embedding) / work.tensor * 2.0
    trains = work.tuner == "full" and not work.freeze_llm and work.trained_b is None
    if trains and not model.head and not work.zero_stage and work.pipeline == 1:
        use.tied = whole * trained.width * (1.0 if work.loss == "linear" else 2.0)


def _beside(use: Use, work: Workload, local: Local) -> None:
    """Fill in the models beside the trained one, spread like its weights.

    Where the value model leaves the card between its turns (`critic_away`), a step is as high as
    the higher of two turns: its own, with what stays of the trainer, and the trainer's.
    """
    spread = local.degree * local.shards
    frozen = 0.0 if work.copies_on_host else sum(shape.params_b or 0.0 for shape in work.copies)
    held = 2.0 * frozen * 1e9 / spread
    model, gradients, states = _critic(use, work, spread)
    use.copies = use.resident = held + model + gradients + states
    if work.critic_away is None:
        return
    # gradients go at the end of each turn (verl, workers/critic/dp_critic.py: zero_grad)
    left = use.gradients
    left += use.weights + use.adapters if work.rollout.offload_model else 0.0
    left += use.master + use.optimizer if work.rollout.offload_optimizer else 0.0
    stays = 0.0 if "model" in work.critic_away else model
    stays += 0.0 if "optimizer" in work.critic_away else states
    use.resident = held + stays
    use.copies = held + max(stays, model + gradients + states - left)


def _critic(use: Use, work: Workload, spread: float) -> tuple[float, float, float]:
    """Give the bytes of a value model, its gradients, and the states of its optimizer.

    It takes what the trained one takes, by its size: sharded, offloaded or in adapters alike; where
    it is trained whole beside adapters (verl: critic.model.lora_rank is its own) 16 bytes a
    parameter, of which fp32 weights and gradients are 4 each and Adam's moments 8.
    """
    trained = sum((shape.params_b or 0.0) for shape in work.trained_copies)
    if trained and (work.copies_whole or not work.shape.params_b):
        each = trained * 1e9 / spread
        return 4.0 * each, 4.0 * each, 8.0 * each
    share = trained / work.shape.params_b if trained and work.shape.params_b else 0.0
    states = use.master + use.optimizer
    return share * (use.weights + use.adapters), share * use.gradients, share * states


def packed_bytes(work: Workload, k: Constants) -> float:
    """Give the bytes a weight of a linear layer takes as it is kept."""
    if work.quant_bits is None:
        return work.weight_bytes
    if work.quant_bits >= 8:
        return k.int8
    if work.quant_method == "nf4-single":
        return k.nf4_single
    if work.quant_method in ("gptq", "awq"):
        return k.int4 * work.quant_bits / 4
    return k.nf4


def _local(work: Workload, model: Model) -> Local:
    degree = float(work.tensor * work.pipeline * work.device_map)
    data = float(max(1, work.shards or work.data * work.context))
    linear = (model.linear - model.experts + model.experts / work.expert) / degree
    ends = (model.embedding + model.head) / (work.tensor * work.device_map)
    if work.pipeline > 1:  # the first stage has the embedding, the last one the head
        ends = max(model.embedding, model.head) / work.tensor
    other = (model.tower + max(0.0, model.rest)) / work.device_map
    shards = data if work.zero_stage == 3 else 1.0
    if work.expert > 1 and work.precision != "megatron":
        # experts that are spread over ranks already are left out of the sharding of the rest
        experts = model.experts / work.expert / degree
        whole = linear + ends + other
        shards = whole / ((whole - experts) / shards + experts)
    return Local(linear=linear, ends=ends, other=other, degree=degree, data=data, shards=shards)


def _weights(use: Use, work: Workload, model: Model, local: Local, k: Constants) -> Trained:
    """Fill in weights and adapters, and say what is trained."""
    if work.tuner == "full":
        wide = work.precision in ("upcast", "fp32")
        own = FULL_PRECISION if wide else work.weight_bytes
        count = _unfrozen(work, model, local)
        weights = count * own + (local.all - count) * work.weight_bytes
        use.weights = 0.0 if work.offload_params else weights / local.shards
        return Trained(count, own)
    ends = FULL_PRECISION if work.embeddings_upcast else work.weight_bytes
    weights = local.linear * packed_bytes(work, k) + local.ends * ends
    weights += local.other * work.weight_bytes
    use.weights = 0.0 if work.offload_params else weights / local.shards
    if work.tuner == "lora":
        count = adapters_of(work.shape, work.rank, work.targets) / local.degree
    else:
        count = (work.trained_b or 0.0) * 1e9 / local.degree
    use.adapters = count * FULL_PRECISION / local.shards
    if not work.modules_b:
        return Trained(count, FULL_PRECISION)
    # modules trained whole keep the model's own dtype, adapters are fp32
    modules = work.modules_b * 1e9 / local.degree
    use.adapters += modules * work.weight_bytes / local.shards
    width = (FULL_PRECISION * count + work.weight_bytes * modules) / (count + modules)
    return Trained(count + modules, width)


def _unfrozen(work: Workload, model: Model, local: Local) -> float:
    tower = model.tower / work.device_map
    tuned = tower if work.images is None or work.images.trained else 0.0
    count = tuned if work.freeze_llm else local.all - tower + tuned
    return count if work.trained_b is None else min(count, work.trained_b * 1e9 / local.degree)


def _torch(
    use: Use, work: Workload, model: Model, trained: Trained, local: Local, k: Constants
) -> None:
    values, width = STATES.get(work.optimizer, STATES["adamw_torch"])
    size = trained.parameters * trained.width
    use.gradients = size / (1.0 if work.defers_sync else local.shards)
    use.optimizer = trained.parameters * values * (width or trained.width) / local.shards
    if work.optimizer == "adamw_bnb_8bit" and work.tuner == "full":
        # trainers of transformers keep an embedding's states in fp32 (trainer.py:
        # register_module_override with optim_bits 32)
        use.optimizer += model.embedding * values * (FULL_PRECISION - width) / local.shards
    use.step = size * work.step_copies / local.shards if work.foreach else 0.0
    if work.zero_stage == 0 and local.data > 1:  # DDP copies gradients into buckets of its own
        use.buffers = size * k.reducer


def _deepspeed(use: Use, work: Workload, trained: Trained, local: Local, k: Constants) -> None:
    values, width = STATES.get(work.optimizer, STATES["adamw_torch"])
    stage, count = work.zero_stage, trained.parameters
    shards = local.data if stage >= 1 else 1.0
    use.gradients = count * 2.0 / (local.data if stage >= 2 else 1.0)
    use.master = count * FULL_PRECISION / shards
    use.optimizer = count * values * (width if 0 < width < 2 else FULL_PRECISION) / shards
    # the step makes an fp32 copy of the gradients it applies, torch's own Adam another; stages 1
    # and 2 join the 2-byte ones first (stage_1_and_2.py: flatten)
    at_once = min(count / shards, SUB_GROUP) if stage == 3 else count / shards
    more = float(work.step_copies if work.foreach else 0)
    copies = 1.0 + (more if stage == 3 else max(more, 0.5))
    use.step = at_once * FULL_PRECISION * copies * k.deepspeed_step
    bucket = k.zero2_bucket_gib * GIB if work.tuner == "full" else 0.0
    if stage == 3:
        use.buffers = bucket
    else:  # let go at the end of a backward (stage_1_and_2.py: _release_ipg_buffers)
        use.bucket = bucket


def _megatron(use: Use, work: Workload, model: Model, trained: Trained, local: Local) -> None:
    values, _ = STATES.get(work.optimizer, STATES["adamw_torch"])
    # experts are replicated over fewer ranks than the rest: each expert-parallel group has one
    # copy, so their states are shared by as many ranks as there are groups
    experts = 0.0
    if work.expert > 1:
        share = model.experts / work.expert / local.degree / max(1.0, local.all)
        experts = trained.parameters * min(1.0, share)
    groups = max(1.0, work.world / (work.pipeline * work.expert))
    held = (trained.parameters - experts) / local.data + experts / groups
    use.gradients = trained.parameters * FULL_PRECISION
    use.master = held * FULL_PRECISION
    use.optimizer = held * values * FULL_PRECISION


def _let_go(use: Use, work: Workload) -> None:
    """Take off what does not stay on the card."""
    if work.step_in_backward:  # each gradient is used and freed as soon as it is there
        use.gradients = use.step = 0.0
    if work.optimizer.startswith("paged"):  # in unified memory, which no allocator counts
        use.optimizer = 0.0
    if work.offload_optimizer:
        use.master = use.optimizer = use.step = 0.0
    if work.offload_params and work.fsdp:  # FSDP's CPU offload takes the gradients along
        use.gradients = 0.0


def _gathered(use: Use, work: Workload, model: Model, local: Local, k: Constants) -> None:
    """Fill in the units of a sharded model that are whole at a time, and unpacked matrices."""
    half = min(work.weight_bytes, 2.0)
    if work.zero_stage == 3 and local.data > 1:
        units = k.gathered_layers if work.fsdp else k.gathered_zero3
        packed = work.tuner != "full" and work.quant_bits is not None
        kept = packed_bytes(work, k) if packed else half
        layer = model.layer / work.tensor * kept
        # FSDP's outermost unit holds embedding and head together, FSDP2 gathers one by one
        both = model.embedding + model.head
        ends = max(model.embedding, model.head) if work.fsdp == 2 else both
        use.gathered = units * layer + k.gathered_root * ends / work.tensor * 2.0
        # FSDP2 leaves packed weights whole once they are gathered (axolotl's runs on two cards
        # take a whole and a half of the model)
        if not work.reshard or (packed and work.fsdp == 2):
            use.gathered = local.linear * kept + (local.ends + local.other) * half
    elif work.offload_params:
        use.gathered = k.gathered_zero3 * model.layer * half
    if work.quant_bits:
        use.unpacked = k.dequantised * model.matrix * 2.0
