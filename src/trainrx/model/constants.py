"""Constants of the memory model; the values that hold are fitted and stand in `kb/memory.yaml`."""

from __future__ import annotations

import msgspec


class Constants(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes and shares the formulas need. Defaults are what the cited sources give by counting.

    `live_hidden` and `live_inter`: bytes a token of the layer at work takes per unit of hidden
    width and of MLP width, forward tensors kept for backward plus the largest gradients.
    `kept_hidden` and `kept_inter`: bytes a token of every layer keeps without checkpointing.
    The `frozen_` ones are of layers whose own weights are not trained, `lora_input` of the inputs
    each adapter keeps, per unit of their width, `lora_dropped` of the mask where it drops some of
    them, `lora_mixed` of what it adds to the layer at work
    under FSDP's mixed precision. `logit_*`: bytes per logit and kind of loss.
    """

    # Korthikanti et al. (arXiv 2205.05198), equation 2, without the attention matrix; gated MLP.
    # What is kept was counted between the points of a step (`phases` of measured rows): gate, its
    # activation, up and their product where down is trained; each adapter's 2-byte input
    live_hidden: float = 34.0
    live_inter: float = 9.0
    kept_hidden: float = 20.0
    kept_inter: float = 8.0
    frozen_live_hidden: float = 28.0
    frozen_live_inter: float = 8.0
    frozen_kept_hidden: float = 12.0
    frozen_kept_inter: float = 6.0
    lora_input: float = 2.0
    lora_dropped: float = 1.0
    lora_mixed: float = 16.0
    compiled: float = 0.7
    selective: float = 0.3
    moe_copy: float = 10.0
    score_live: float = 12.0
    score_kept: float = 6.0
    # bytes per logit. Megatron's fused loss works in the logits' own place: 2-byte logits and their
    # gradients; eager: their fp32 copy, log-softmax and gradients in fp32
    logit_eager: float = 12.0
    logit_float: float = 20.0
    logit_fused: float = 8.0
    logit_chunked: float = 2.0
    logit_megatron: float = 4.0
    logit_linear: float = 0.3
    logit_half: float = 8.0
    # the 2-byte logits themselves, where the model's forward keeps them while the loss is at work
    logit_held: float = 2.0
    logit_policy: float = 10.0
    # NF4 with double quantisation: 4 bits and 0.127 bit of constants (QLoRA, arXiv 2305.14314);
    # GPTQ and AWQ: 4 bits, a 2-byte scale and a 4-bit zero for each group of 128
    nf4: float = 0.516
    nf4_single: float = 0.5625
    int4: float = 0.52
    int8: float = 1.02
    dequantised: float = 2.0
    # units of a sharded model that are whole at a time
    gathered_layers: float = 2.0
    gathered_zero3: float = 2.0
    gathered_root: float = 0.7
    deepspeed_step: float = 1.0
    zero2_bucket_gib: float = 1.0
    reducer: float = 1.0
    tower_live_hidden: float = 34.0
    tower_kept_hidden: float = 34.0
    tower_frozen: float = 20.0
    # allocator: what is reserved beyond the allocated peak, as a share of what comes and goes.
    # turns: of the smaller of logits and live layer, where one follows the other in other blocks;
    # over: of what logits take beyond the live layer under FSDP with adapters; apart: of gradients
    # and step or of the batch, whichever is less, where a stream of its own frees the former;
    # first: of what the first update makes in blocks its batch has left, or of that batch;
    # logits: where samples differ in length, when no block fits exactly
    base_gib: float = 0.3
    # packing: what loading weights and packing them on the card leaves, whatever their size
    packing_gib: float = 0.8
    slack_steady: float = 0.02
    slack_moving: float = 0.2
    slack_blocks: float = 0.2
    slack_logits: float = 1.0
    slack_turns: float = 0.9
    slack_over: float = 1.0
    slack_apart: float = 0.9
    slack_first: float = 0.4
    slack_sharded: float = 0.1
    slack_varied: float = 0.1
    varied_gib: float = 1.0
    # share of that reserve that stays when the allocator returns what it can
    unreturned: float = 0.55
    # contexts and libraries beside the allocator
    context_gib: float = 0.5
    nccl_gib: float = 0.8
    graphs_gib: float = 1.5
    engine_asleep_gib: float = 2.0
    # relative half-width of the interval of each figure: 80 % of the held-out rows lie within
    band_allocated: float = 0.12
    band_reserved: float = 0.2
    band_card: float = 0.2
    # the same where the length of the samples is not known exactly
    band_varied: float = 0.3


JUDGED = Constants()
"""What counting alone gives: where the fit starts from, and what it stays near."""

FILE = "memory.yaml"


class FittedConstants(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The constants with what they rest on: figures measured, models they are of, held-out errors.

    `held_out` maps a figure to the mean absolute error and the share within 15 % on models the fit
    had not seen.
    """

    schema: int
    figures: int
    models: int
    held_out: dict[str, tuple[float, float]] = {}
    moved: dict[str, tuple[float, int]] = {}
    constants: Constants
