"""DeepSpeed's own estimate of model states under ZeRO-2 and ZeRO-3 (FSDP shards alike).

It counts weights, gradients and Adam states of a fully trained model, nothing of the activations.
"""

from __future__ import annotations

from deepspeed.runtime.zero.stage3 import estimate_zero3_model_states_mem_needs
from deepspeed.runtime.zero.stage_1_and_2 import estimate_zero2_model_states_mem_needs
from serve import GIB, Job, plain, serve


def estimate(job: Job) -> dict[str, float] | None:
    """Give the model states of a fully trained, sharded model."""
    if job["tuner"] != "full" or job["quant_bits"] or not plain(job) or job["zero_stage"] < 2:
        return None
    shared = {
        "num_gpus_per_node": job["world"] // job["nodes"],
        "num_nodes": job["nodes"],
        "cpu_offload": False,
    }
    if job["zero_stage"] == 2:
        # its factor for buffers is 1.5 by default and bears on the host's memory
        _, on_card = estimate_zero2_model_states_mem_needs(total_params=job["params"], **shared)[:2]
        return {"any": on_card / GIB}
    largest = job["vocab"] * job["hidden"]
    _, on_card, _ = estimate_zero3_model_states_mem_needs(
        total_params=job["params"], largest_layer_params=largest, cpu_offload_params=False, **shared
    )
    return {"any": on_card / GIB}


if __name__ == "__main__":
    serve("deepspeed", estimate)
