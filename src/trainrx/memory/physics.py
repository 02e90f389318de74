"""The closed form: bytes per GPU of each part of a workload.

Sources of the formulas: model states, ZeRO (arXiv 1910.02054, section 3); activations,
Korthikanti et al. (arXiv 2205.05198, section 4); LoRA (arXiv 2106.09685); QLoRA (arXiv 2305.14314);
fused losses, Liger (arXiv 2410.10989). The constants are fitted (see `constants`).
"""

from __future__ import annotations

from trainrx.memory.model import Model, adapters_of
from trainrx.model.constants import Constants
from trainrx.model.memory import Workload

GIB = 2.0**30
STATES = {
    # moments of the optimizer: how many values it keeps per trained parameter, and bytes of each
    # (0: as wide as the parameter itself)
    "adamw_torch": (2.0, 0.0),
    "adamw_8bit": (2.0, 1.02),
    "adamw_4bit": (2.0, 0.52),
    "paged_adamw_8bit": (2.0, 1.02),
    "paged_adamw": (2.0, 0.0),
    "adafactor": (0.01, 4.0),
    "sgd": (0.0, 0.0),
    "momentum": (1.0, 0.0),
    "muon": (1.1, 0.0),
    "lion": (1.0, 0.0),
}
HEADLESS = ("rm", "seq_cls", "reranker", "embedding")
"""Tasks whose model ends in a score, not in a vocabulary."""
POLICY = ("grpo", "dpo", "kto", "orpo", "simpo", "cpo", "ppo")


class Use:
    """Bytes of one GPU by part; the phases are made of these."""

    __slots__ = (
        "activations",
        "adapters",
        "buffers",
        "checkpoints",
        "copies",
        "engine",
        "engine_asleep",
        "gathered",
        "gradients",
        "live",
        "logits",
        "master",
        "optimizer",
        "step",
        "tower",
        "weights",
    )

    weights: float
    adapters: float
    gradients: float
    master: float
    optimizer: float
    copies: float
    buffers: float
    gathered: float
    checkpoints: float
    activations: float
    live: float
    logits: float
    tower: float
    step: float
    engine: float
    engine_asleep: float


def use_of(work: Workload, model: Model, k: Constants, tokens: float) -> Use:
    """Work out all parts for micro-batches whose samples have `tokens` tokens each."""
    use = Use()
    _states(use, work, model, k)
    _activations(use, work, model, k, tokens)
    _tower(use, work, model, k)
    return use


def _quantised_bytes(work: Workload, k: Constants) -> float:
    if work.quant_bits is None:
        return work.weight_bytes
    if work.quant_bits >= 8:
        return k.int8
    if work.quant_method == "nf4-single":
        return k.nf4_single
    if work.quant_method in ("gptq", "awq"):
        return k.int4 * work.quant_bits / 4
    return k.nf4


def _states(use: Use, work: Workload, model: Model, k: Constants) -> None:
    """Weights, gradients and optimizer states (ZeRO, arXiv 1910.02054, section 3.1)."""
    model_shards = float(work.tensor * work.pipeline * work.device_map)
    data = float(max(1, work.shards or work.data * work.context))
    stage = work.zero_stage
    expert = float(work.expert)
    linear = (model.linear - model.experts + model.experts / expert) / model_shards
    ends = (model.embedding + model.head) / (work.tensor * work.device_map)
    if work.pipeline > 1:  # the first stage has the embedding, the last one the head
        ends = max(model.embedding, model.head) / work.tensor
    other = model.tower + max(0.0, model.rest)
    here = linear + ends + other / work.device_map
    sharded = data if stage == 3 else 1.0

    if work.tuner == "full":
        trained = here - other / work.device_map
        trained += model.tower if work.images is None or work.images.trained else 0.0
        trained += max(0.0, model.rest)
        trained = min(trained, here)
        if work.trained_b is not None:
            trained = min(trained, work.trained_b * 1e9)
    elif work.tuner == "lora":
        trained = adapters_of(work.shape, work.rank, work.targets) / model_shards
    else:
        trained = (work.trained_b or 0.0) * 1e9 / model_shards

    upcast = work.precision == "upcast"
    own = 4.0 if upcast or work.precision == "fp32" else work.weight_bytes
    ends_bytes = 4.0 if work.embeddings_upcast else work.weight_bytes
    if work.tuner == "full":
        weights = trained * own + (here - trained) * work.weight_bytes
        weights_extra = 0.0
    else:
        packed = _quantised_bytes(work, k)
        weights = linear * packed + ends * ends_bytes + other / work.device_map * work.weight_bytes
        weights_extra = trained
    use.weights = 0.0 if work.offload_params else weights / sharded
    use.adapters = weights_extra * 4.0 / sharded
    count, width = STATES.get(work.optimizer, STATES["adamw_torch"])
    small = 4.0 if work.tuner != "full" else own
    if work.modules_b:  # modules trained whole keep the model's own dtype, adapters are fp32
        modules = work.modules_b * 1e9 / model_shards
        use.adapters += modules * work.weight_bytes / sharded
        small = (small * trained + work.weight_bytes * modules) / (trained + modules)
        trained += modules
    width = width or small
    if work.precision == "deepspeed":
        shards = data if stage >= 1 else 1.0
        use.gradients = trained * 2.0 / (data if stage >= 2 else 1.0)
        # fp32 masters and moments, and the fp32 copy of the gradients the step makes
        use.master = trained * 4.0 / shards
        use.optimizer = trained * count * (width if width < 2 else 4.0) / shards
        use.step = trained * 4.0 / shards
        if stage == 3:  # the step runs over groups of a billion parameters (sub_group_size)
            use.step = min(use.step, 4.0e9)
        use.step *= k.deepspeed_step
        use.buffers = k.zero2_bucket_gib * GIB if work.tuner == "full" else 0.0
    elif work.precision == "megatron":
        # experts are replicated over fewer ranks than the rest: each expert-parallel group has one
        # copy, so their states are shared by as many ranks as there are groups
        experts = trained * (model.experts / expert / model_shards) / max(1.0, here)
        experts = min(experts, trained) if expert > 1 else 0.0
        groups = max(1.0, work.world / (work.pipeline * expert))
        held = (trained - experts) / data + experts / groups
        use.gradients = trained * 4.0
        use.master = held * 4.0
        use.optimizer = held * count * 4.0
        use.step = 0.0
        use.buffers = 0.0
    else:
        use.gradients = trained * small / (1.0 if work.defers_sync else sharded)
        use.master = 0.0
        use.optimizer = trained * count * width / sharded
        use.step = trained * small / sharded if work.foreach else 0.0
        # DDP copies gradients into buckets of its own
        whole = stage == 0 and data > 1
        use.buffers = trained * small * k.reducer if whole else 0.0
    if work.step_in_backward:  # each gradient is used and freed as soon as it is there
        use.gradients = use.step = 0.0
    if work.optimizer.startswith("paged"):  # in unified memory, which no allocator counts
        use.optimizer = 0.0
    if work.offload_optimizer:
        use.master = use.optimizer = use.step = 0.0
    if work.offload_params and work.fsdp:  # FSDP's CPU offload takes the gradients along
        use.gradients = 0.0
    use.gathered = 0.0
    if stage == 3 and data > 1:
        units = k.gathered_layers if work.fsdp else k.gathered_zero3
        layer_bytes = min(work.weight_bytes, 2.0)
        if work.tuner != "full" and work.quant_bits:
            layer_bytes = _quantised_bytes(work, k)
        gathered = units * model.layer / work.tensor * layer_bytes
        # FSDP's outermost unit holds embedding and head together, FSDP2 gathers one by one
        ends = model.embedding + model.head
        ends = max(model.embedding, model.head) if work.fsdp == 2 else ends
        root = ends / work.tensor * 2.0
        use.gathered = gathered + k.gathered_root * root
        if not work.reshard:
            use.gathered = weights
    elif work.offload_params:
        use.gathered = k.gathered_zero3 * model.layer * work.weight_bytes
    if work.quant_bits:
        use.gathered += k.dequantised * model.matrix * 2.0
    frozen = sum((shape.params_b or 0.0) for shape in work.copies)
    whole = sum((shape.params_b or 0.0) for shape in work.trained_copies)
    use.copies = (2.0 * frozen + 16.0 * whole) * 1e9 / (model_shards * sharded)


def _activations(use: Use, work: Workload, model: Model, k: Constants, tokens: float) -> None:
    """Activations of one micro-batch (Korthikanti et al., arXiv 2205.05198, section 4)."""
    batch = _batch_tokens(work, tokens) / work.context
    wide = float(work.tensor if work.sequence else 1)
    hidden, inter = float(model.hidden), model.inter
    # half of what a layer keeps besides its MLP is as wide as its queries
    wide_hidden = (hidden + model.queries) / 2
    per_stage = model.layers / (work.pipeline * work.device_map)
    # a pipeline's first stage holds the micro-batches of all stages that follow it
    in_flight = float(work.pipeline)
    # the residual stream is fp32 where embeddings or trained weights are
    stream = 4.0 if work.embeddings_upcast or work.precision == "fp32" else 2.0
    if work.fsdp == 1 and work.tuner != "full" and work.precision != "pure":
        # under accelerate's FSDP fp32 adapters promote what flows between the layers: slopes of
        # 774 to 786 kB a token were measured where 2-byte hidden states give 524
        stream = 4.0
    frozen = work.tuner != "full"
    live_h = k.frozen_live_hidden if frozen else k.live_hidden
    live_f = k.frozen_live_inter if frozen else k.live_inter
    kept_h = k.frozen_kept_hidden if frozen else k.kept_hidden
    kept_f = k.frozen_kept_inter if frozen else k.kept_inter
    copied = k.moe_copy * model.copies * hidden
    adapted = 0.0
    if work.tuner == "lora":
        mlp = sum(role in ("gate", "up") for role in work.targets)
        att = sum(role in ("q", "k", "v", "o", "qkv") for role in work.targets)
        adapted = (
            k.lora_input / work.tensor * ((att + mlp) * hidden + ("down" in work.targets) * inter)
        )
    factor = k.compiled if work.compiled else 1.0
    live = (live_h * wide_hidden + live_f * inter) / work.tensor + copied + adapted
    kept = (kept_h * wide_hidden + kept_f * inter) / work.tensor + copied + adapted
    if work.attention == "eager":
        scores = model.heads * tokens / work.tensor
        live += k.score_live * scores
        kept += k.score_kept * scores
    use.live = batch * live * factor
    if work.checkpointing and work.recompute == "full":
        # one input is kept for each group of layers that is computed again at once
        group = float(max(1, work.recompute_layers))
        use.checkpoints = per_stage * batch * hidden * stream / wide * in_flight / group
        use.live += (group - 1.0) * batch * kept * factor
        use.activations = 0.0
    elif work.checkpointing and work.recompute == "selective":
        use.checkpoints = 0.0
        use.activations = per_stage * batch * kept * factor * k.selective * in_flight
    elif work.checkpointing and work.recompute == "offload":
        use.checkpoints = 2.0 * batch * hidden * stream
        use.activations = 0.0
    else:
        use.checkpoints = 0.0
        use.activations = per_stage * batch * kept * factor * in_flight
        use.live = batch * live * factor * 0.5
    use.logits = _logits(work, model, k, batch * work.logit_share)


def _batch_tokens(work: Workload, tokens: float) -> float:
    """Give the tokens of the largest micro-batch whose longest sample has `tokens`.

    Padded to the longest, each sample counts as that one. Without padding, lengths add up, and the
    longest sample of a data set comes with others of its mean length: peaks of runs on data with
    long tails follow that (fms-acceleration, refs_orca).
    """
    batch = work.micro_batch
    if not work.padding_free or work.length.how == "exact" or batch <= 1:
        return batch * tokens
    return (batch - 1) * min(work.length.low, tokens) + tokens


def _logits(work: Workload, model: Model, k: Constants, batch: float) -> float:
    """Logits and their loss; preferences and policies take log-probabilities in fp32."""
    if work.task in HEADLESS:
        return 0.0
    per = {
        "eager": k.logit_eager,
        "float": k.logit_float,
        "fused": k.logit_fused,
        "chunked": k.logit_chunked,
        "linear": k.logit_linear,
    }[work.loss]
    if work.loss != "linear" and work.task in POLICY:
        per = k.logit_policy
    elif work.loss == "fused" and work.precision == "megatron":
        per = k.logit_megatron
    elif model.scaled and work.loss != "linear":
        per += k.logit_scaled
    if work.context > 1 and work.loss in ("eager", "float"):
        # sequence parallelism computes the loss of its own part token by token: no shifted copy
        per = k.logit_fused
    return batch * model.vocab * per / work.tensor


def _tower(use: Use, work: Workload, model: Model, k: Constants) -> None:
    """Activations of the vision tower; its tokens are patches, not the language model's tokens."""
    images, tower = work.images, work.shape.tower
    use.tower = use.engine = use.engine_asleep = 0.0
    if work.rollout.mode == "colocate" and work.card_gib:
        use.engine = (work.rollout.share or 0.9) * work.card_gib * GIB
        use.engine_asleep = k.engine_asleep_gib * GIB if work.rollout.sleep else use.engine
    if images is None or tower is None or images.pixels is None or not tower.hidden:
        return
    patches = images.pixels / tower.patch**2 * images.frames / tower.temporal_patch
    patches *= images.per_sample * work.micro_batch
    width = tower.hidden + tower.inter * (1.5 if tower.gated else 1.0) / 4
    if not images.trained:
        use.tower = patches * width * k.tower_frozen
    elif images.checkpointing:
        checkpoints = tower.depth * patches * tower.hidden * 2.0
        use.tower = checkpoints + patches * width * k.tower_live_hidden
    else:
        use.tower = tower.depth * patches * width * k.tower_kept_hidden
