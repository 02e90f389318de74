"""What `accelerate estimate-memory` says of training with Adam, batch 1, one card."""

from __future__ import annotations

from accelerate.commands.estimate import estimate_training_usage
from serve import GIB, Job, plain, serve


def estimate(job: Job) -> dict[str, float] | None:
    """Give the largest of its four sizes, as its table does."""
    if job["tuner"] != "full" or job["quant_bits"] or not plain(job) or job["zero_stage"]:
        return None
    mixed = "float32" if job["precision"] == "fp32" else "bfloat16"
    sizes = estimate_training_usage(job["params"] * 4, mixed)
    return {"any": max(sizes.values()) / GIB}


if __name__ == "__main__":
    serve("accelerate", estimate)
