"""Which variables of a process may leave its machine: those that decide how a job runs, by name."""

from __future__ import annotations

import re
from collections.abc import Mapping

from trainrx.sanitizer.assignments import is_secret_name

_FAMILIES = (
    # collectives and their networks
    r"(?:TORCH_)?(?:NCCL|GLOO|HCCL|RCCL|MCCL|ACCL)_|UCX_|FI_|IB_|OMPI_MCA_|SHARP_|MSCCL_"
    # torch, compilers, devices
    r"|TORCH_|TORCHELASTIC_|TORCHINDUCTOR_|PYTORCH_|TRITON_|CUDA_|CUBLAS_|CUDNN_|NVIDIA_|NVTE_"
    r"|ASCEND_|HIP_|ROCR_|HSA_|MUSA_|XLA_|OMP_|MKL_|KMP_|OPENBLAS_|NUMEXPR_|NUMBA_|MALLOC_"
    # launchers and schedulers
    r"|ACCELERATE_|FSDP_|DEEPSPEED_|DS_|PMI_|PMIX_RANK|OMPI_COMM_WORLD_|JOB_COMPLETION_INDEX"
    r"|SLURM_(?:JOB_?ID|JOB_NAME|JOB_NUM_NODES|JOB_NODELIST|JOB_PARTITION|NODELIST|NNODES|NODEID"
    r"|NTASKS|PROCID|LOCALID|STEP_ID|CPUS_|GPUS|MEM_|TASKS_PER_NODE|ARRAY_(?:JOB|TASK)_ID)"
    # libraries of training, inference and data
    r"|HF_|TRANSFORMERS_|DATASETS_|TOKENIZERS_|PEFT_|BNB_|FLASH_ATTENTION_|MEGATRON_|SWIFT_|USE_"
    r"|LLAMAFACTORY_|FORCE_TORCHRUN|VLLM_|SGLANG_|SGL_|RAY_|MODELSCOPE_|DISABLE_VERSION_CHECK"
    r"|WANDB_(?:MODE|DISABLED|DIR|START_METHOD)|SWANLAB_MODE|MAX_PIXELS|MIN_PIXELS|VIDEO_|FPS_"
)
_NAMES = (
    r"RANK|LOCAL_RANK|WORLD_SIZE|LOCAL_WORLD_SIZE|GROUP_RANK|ROLE_RANK|NODE_RANK|NNODES|NUM_NODES"
    r"|NPROC_PER_NODE|NUM_GPUS|MASTER_(?:ADDR|PORT)|PET_\w+|LD_PRELOAD|LD_LIBRARY_PATH|TMPDIR"
    r"|PYTHON(?:PATH|HASHSEED|FAULTHANDLER|UNBUFFERED|WARNINGS|MALLOC|OPTIMIZE)|VIRTUAL_ENV"
    r"|CONDA_DEFAULT_ENV|(?:https?|no|all)_proxy|(?:HTTPS?|NO|ALL)_PROXY|LANG|LC_ALL"
)
_TAKEN = re.compile(rf"(?:{_FAMILIES})\w*|(?:{_NAMES})")
LONGEST = 4096
"""Characters of a value that are taken."""
SHORTEST_SECRET = 6


def taken_variables(env: Mapping[str, str]) -> dict[str, str]:
    """Give the variables that tell how a job runs; never one whose name says it is a secret."""
    return {
        name: value[:LONGEST]
        for name, value in sorted(env.items())
        if _TAKEN.fullmatch(name) and not is_secret_name(name)
    }


def secret_values(env: Mapping[str, str]) -> frozenset[str]:
    """Give the values that must not be shown wherever they stand."""
    found = (value for name, value in env.items() if is_secret_name(name))
    return frozenset(value for value in found if len(value) >= SHORTEST_SECRET)
