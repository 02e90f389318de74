"""llm-analysis: weights, gradients, states and activations of a fully trained dense model."""

from __future__ import annotations

from llm_analysis.analysis import ActivationRecomputation, DSZeRO, LLMAnalysis
from llm_analysis.config import DtypeConfig, GPUConfig, ModelConfig, ParallelismConfig
from serve import GIB, Job, serve

# it gives no number for a job that does not fit, so the card is as large as need be
ANY_CARD = GPUConfig(
    name="any",
    mem_per_GPU_in_GB=100_000,
    hbm_bandwidth_in_GB_per_sec=2039,
    intra_node_bandwidth_in_GB_per_sec=300,
    intra_node_min_message_latency=8e-6,
    peak_fp16_TFLOPS=312,
)


def estimate(job: Job) -> dict[str, float] | None:
    """Give everything it counts per GPU."""
    if job["tuner"] != "full" or job["quant_bits"] or job["experts"] or job["offload"]:
        return None
    if job["other_parallel"]:
        return None
    model = ModelConfig(
        name="model",
        num_layers=job["layers"],
        n_head=job["heads"],
        hidden_dim=job["hidden"],
        vocab_size=job["vocab"],
        max_seq_len=job["tokens"],
        num_key_value_heads=job["kv_heads"],
        ffn_embed_dim=job["inter"],
        # given both, it does not ask the width to be a multiple
        expansion_ratio=job["inter"] / job["hidden"],
    )
    data = job["world"] // (job["tensor"] * job["pipeline"])
    spread = ParallelismConfig(tp_size=job["tensor"], pp_size=job["pipeline"], dp_size=data)
    recompute = (
        ActivationRecomputation.FULL if job["checkpointing"] else ActivationRecomputation.NONE
    )
    found = LLMAnalysis(model, ANY_CARD, DtypeConfig(), spread).training(
        batch_size_per_gpu=job["batch"],
        gradient_accumulation_steps=1,
        seq_len=job["tokens"],
        activation_recomputation=recompute,
        ds_zero=DSZeRO(job["zero_stage"]),
        flash_attn=job["flash"],
        mlp_gated_linear_units=job["gated"],
    )
    return {"any": found["(weight+op_state+grad+act)_memory_per_gpu"] / GIB}


if __name__ == "__main__":
    serve("llm-analysis", estimate)
