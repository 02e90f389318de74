"""fitcheck-llm: LoRA, QLoRA and full fine-tuning of dense language models on one card."""

from __future__ import annotations

from fitcheck import ModelConfig, TrainingConfig, get_gpu
from fitcheck import estimate as total_of
from serve import Job, plain, serve

CARDS = ((16, "v100-16"), (24, "3090"), (40, "a100-40"), (48, "a6000"), (80, "a100-80"))
OPTIMIZERS = {
    "adamw_torch": "adamw",
    "paged_adamw": "adamw",
    "adamw_8bit": "adam8bit",
    "paged_adamw_8bit": "adam8bit",
}
LOSSES = ("eager", "float", "fused")
"""It counts logits in any case, so a loss that never has them is none of its jobs."""


def estimate(job: Job) -> dict[str, float] | None:
    """Give its total as the card figure, and that without its overhead as what is allocated."""
    if job["experts"] or job["world"] > 1 or not plain(job):
        return None
    if job["loss"] not in LOSSES or job["optimizer"] not in OPTIMIZERS:
        return None
    if job["tuner"] == "lora" and not job["targets"]:
        return None
    model = ModelConfig(
        name="model",
        num_params=job["params"],
        hidden_size=job["hidden"],
        num_layers=job["layers"],
        num_attention_heads=job["heads"],
        num_kv_heads=job["kv_heads"],
        intermediate_size=job["inter"],
        vocab_size=job["vocab"],
        head_dim=job["head_dim"],
        tie_word_embeddings=job["tie"],
    )
    training = TrainingConfig(
        precision="fp32" if job["precision"] == "fp32" else "bf16",
        quantization={4: "nf4", 8: "int8"}.get(job["quant_bits"] or 16, "none"),
        optimizer=OPTIMIZERS[job["optimizer"]],
        batch_size=job["batch"],
        seq_len=job["tokens"],
        lora_rank=job["rank"] if job["tuner"] == "lora" else None,
        lora_targets=job["targets"],
        grad_checkpoint=job["checkpointing"],
        flash_attn=job["flash"],
    )
    size = job["card_gib"] or 80
    card = next((name for most, name in CARDS if size <= most), "h200")
    report = total_of(model, training, get_gpu(card))
    total = report.total_mib / 1024
    allocated = (report.total_mib - report.overhead_mib) / 1024
    return {"allocated": allocated, "reserved": total, "card": total}


if __name__ == "__main__":
    serve("fitcheck-llm", estimate)
