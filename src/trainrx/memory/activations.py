"""Activations of a micro-batch: layers, logits and the vision tower.

Source: Korthikanti et al. (arXiv 2205.05198, sections 4 and 5) for the layers; the constants are
fitted on measured runs. Losses: Liger (arXiv 2410.10989).
"""

from __future__ import annotations

from trainrx.memory.model import Model
from trainrx.memory.phases import GIB, Use
from trainrx.model.constants import Constants
from trainrx.model.memory import Workload

HEADLESS = ("rm", "seq_cls", "reranker", "embedding")
"""Tasks whose model ends in a score, not in a vocabulary."""
LIGER_HIDDEN, LIGER_INTER = 4.0, 2.0
"""Bytes Liger's norms and gated MLP keep less of a token, per unit of width: activations are
computed again in backward (liger_kernel/ops/swiglu.py, rms_norm.py: in place)."""
STASHED = 2.0
"""Bytes of a number of what an 8-bit matrix keeps of its input, as wide as the stream."""
SCORES_FORWARD = 8.0
"""Bytes an attention score takes while nothing is kept for backward: in 2 bytes, its softmax in 4,
and that in 2 again (transformers: eager_attention_forward)."""
KEYS = 4.0
"""Bytes attention keeps of a token's key and value, per unit of their width."""
POLICY = ("grpo", "dpo", "kto", "orpo", "simpo", "cpo", "ppo")
"""Tasks that take log-probabilities of single tokens."""


def fill_activations(use: Use, work: Workload, model: Model, k: Constants, tokens: float) -> None:
    """Fill in what comes and goes with a micro-batch whose longest sample has `tokens` tokens."""
    batch = batch_tokens(work, tokens) / work.context
    _layers(use, work, model, k, batch, tokens)
    use.logits = _logits(work, model, k, batch * work.logit_share)
    use.block = _logit_block(work, model, batch * work.logit_share)
    _tower(use, work, k)
    rollout = work.rollout
    if rollout.mode == "colocate" and work.card_gib:
        use.engine = (rollout.share or 0.9) * work.card_gib * GIB
        use.engine_asleep = k.engine_asleep_gib * GIB if rollout.sleep else use.engine


def batch_tokens(work: Workload, tokens: float) -> float:
    """Give the tokens of the largest micro-batch whose longest sample has `tokens`.

    Padded to the longest, each sample counts as that one. Without padding, lengths add up, and the
    longest sample of a data set comes with others of its mean length: peaks of runs on data with
    long tails follow that (fms-acceleration, refs_orca).
    """
    batch = work.micro_batch
    if not work.padding_free or work.length.how == "exact" or batch <= 1:
        return batch * tokens
    return (batch - 1) * min(work.length.low, tokens) + tokens


def _layers(
    use: Use, work: Workload, model: Model, k: Constants, batch: float, tokens: float
) -> None:
    live, kept = _per_token(work, model, k, tokens)
    live, kept = live * batch, kept * batch
    # a pipeline's first stage holds the micro-batches of all stages that follow it
    layers = model.layers / work.device_map
    inputs = batch * model.hidden * _stream_bytes(work)
    inputs /= work.tensor if work.sequence else 1
    use.stashed = 0.0
    if not work.checkpointing or work.recompute == "none":
        use.activations = layers * kept
        use.live = 0.5 * live
    elif work.recompute == "selective":
        use.activations = layers * kept * k.selective
        use.live = live
    elif work.recompute == "offload":
        use.checkpoints = 2.0 * inputs
        use.live = live
    else:
        # one input is kept for each group of layers that is computed again at once
        group = max(1, work.recompute_layers)
        use.checkpoints = layers * inputs / group
        use.live = live + (group - 1) * kept
        use.stashed = layers * batch * _stashed(work, model)


def _stashed(work: Workload, model: Model) -> float:
    """Give the bytes of a token a checkpointed layer keeps all the same.

    A matrix of bitsandbytes in 8 bits keeps its input as an attribute of its own (autograd/
    _functions.py, MatMul8bitLt: `ctx.tensors`), which the hooks of non-reentrant checkpointing do
    not see. Queries, keys and values share one input, gate and up another; attention gives 2-byte
    numbers whatever it is given.
    """
    if work.reentrant or work.quant_bits != 8 or work.quant_method != "bnb":  # bits
        return 0.0
    wide = 2.0 * STASHED if work.embeddings_upcast else STASHED
    return (2.0 * model.hidden + model.inter) * wide + model.queries * STASHED


def _stream_bytes(work: Workload) -> float:
    """Give the bytes of a number of the hidden state that flows between the layers."""
    if work.embeddings_upcast or work.precision == "fp32":
        return 4.0
    # under autocast an fp32 embedding begins a stream that stays fp32; FSDP casts it
    wide = work.weight_bytes > 2 or (work.precision == "upcast" and work.tuner == "full")
    return 4.0 if wide and not work.zero_stage else 2.0


def _per_token(work: Workload, model: Model, k: Constants, tokens: float) -> tuple[float, float]:
    """Give the bytes a token takes of the layer at work, and of each layer that is kept whole."""
    # half of what a layer keeps besides its MLP is as wide as its queries
    wide = (model.hidden + model.queries) / 2
    if work.tuner == "full":
        live = k.live_hidden * wide + k.live_inter * model.inter
        kept = k.kept_hidden * wide + k.kept_inter * model.inter + KEYS * model.keys
    else:
        live = k.frozen_live_hidden * wide + k.frozen_live_inter * model.inter
        kept = k.frozen_kept_hidden * wide + k.frozen_kept_inter * model.inter + KEYS * model.keys
    if work.liger_layers:
        kept -= LIGER_HIDDEN * wide + LIGER_INTER * model.inter
    adapted = 0.0
    if work.tuner == "lora":
        each = k.lora_input + (0.0 if work.lora_dropout == 0 else k.lora_dropped)
        adapted = each * _adapted_widths(work, model)
    more = k.moe_copy * model.copies * model.hidden + adapted / work.tensor
    live, kept = live / work.tensor + more, kept / work.tensor + more
    if work.tuner == "lora" and work.fsdp == 1 and work.precision != "pure":
        # peft casts each adapter's input to fp32 (tuners/lora/layer.py), FSDP casts it back: with
        # adapters on four matrices 786 kB a token were measured, of which the inputs of all layers
        # are 262 and the layer at work takes 265 on one card; full tuning has nothing of the kind
        live += k.lora_mixed * _adapted_widths(work, model) / work.tensor
    if work.attention == "eager":
        scores = model.heads * tokens / work.tensor
        live += k.score_live * scores
        kept += k.score_kept * scores
    return (live * k.compiled, kept * k.compiled) if work.compiled else (live, kept)


def _adapted_widths(work: Workload, model: Model) -> float:
    """Sum the widths of the inputs adapters keep.

    An adapter on 2-byte weights works on a copy of its own: peft casts the input to the adapter's
    fp32 (tuners/lora/layer.py). Where both are 2-byte numbers, or the base is bitsandbytes' under
    autocast (tuners/lora/bnb.py casts nothing then), those that read the same input keep it once,
    and attention has kept its output itself.
    """
    if _reads_uncopied(work):
        roles = frozenset(work.targets)
        shared = bool(roles & {"q", "k", "v", "qkv"}) + bool(roles & {"gate", "up"})
        return model.hidden * shared + (model.inter if "down" in roles else 0.0)
    wide = 0.0
    for role in work.targets:
        if role in ("q", "k", "v", "o", "qkv", "gate", "up"):
            wide += model.hidden
        elif role == "down":
            wide += model.inter
    return wide


def _reads_uncopied(work: Workload) -> bool:
    """Tell whether adapters keep the inputs of their layer themselves, no copies of them."""
    if work.precision == "deepspeed":
        return True
    packed = work.quant_bits is not None and work.quant_method.startswith(("bnb", "nf4"))
    return packed and work.precision == "autocast" and not (work.embeddings_upcast or work.fsdp)


def _logit_block(work: Workload, model: Model, batch: float) -> float:
    """Give the bytes of one fp32 copy of the logits; 0 where no code makes one."""
    if work.loss not in ("eager", "float", "fused") or work.task in HEADLESS:
        return 0.0
    if work.precision == "megatron" or _halves(work, model):
        return 0.0
    return batch * model.vocab * 4.0 / work.tensor


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
    if work.loss in ("eager", "fused") and _halves(work, model):
        # a fused kernel takes the logits' own place for their gradients
        per = k.logit_half * (1.0 if work.loss == "eager" else 0.75)
    elif work.holds_logits and work.loss in ("eager", "fused") and not model.scaled:
        per += k.logit_held
    if work.loss != "linear" and work.task in POLICY:
        per = k.logit_policy
    elif work.loss == "fused" and work.precision == "megatron":
        per = k.logit_megatron
    if work.context > 1 and work.loss in ("eager", "float"):
        # sequence parallelism computes the loss of its own part token by token: no shifted copy
        per = k.logit_fused
    return batch * model.vocab * per / work.tensor


def _halves(work: Workload, model: Model) -> bool:
    """Tell whether the loss works on 2-byte logits: no code makes fp32 ones of them."""
    if model.own_loss:
        return work.precision == "deepspeed"
    return model.half_loss and work.quant_bits is None


def _tower(use: Use, work: Workload, k: Constants) -> None:
    """Fill in the vision tower; its tokens are patches, not the language model's tokens."""
    images, tower = work.images, work.shape.tower
    if images is None or tower is None or images.pixels is None or not tower.hidden:
        return
    # an image is a frame that is there as often as the tower takes frames together
    frames = max(1.0, images.frames / tower.temporal_patch)
    patches = images.pixels / tower.patch**2 * frames
    patches *= images.per_sample * work.micro_batch
    width = tower.hidden + tower.inter * (1.5 if tower.gated else 1.0) / 4
    use.scores = 0.0
    if work.attention == "eager":
        # every patch of an image looks at every other, in the layers whose attention has no window
        backward = images.trained or images.hooked
        each = k.score_live if backward else SCORES_FORWARD
        use.scores = tower.heads * patches * images.pixels / tower.patch**2 * each
    inputs = tower.depth * patches * tower.hidden * 2.0
    if not images.trained:
        use.tower = patches * width * k.tower_frozen
        if images.hooked and images.checkpointing:
            use.tower += inputs
    elif images.checkpointing:
        use.tower = inputs + patches * width * k.tower_live_hidden
    else:
        use.tower = tower.depth * patches * width * k.tower_kept_hidden
