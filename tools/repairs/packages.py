"""Whose history is read, from where, and which of its files are the program."""

from __future__ import annotations

from typing import NamedTuple


class Part(NamedTuple):
    """A repository, the folders in which its program lies, and how its release tags begin.

    `tags` is None where no tag is a release of the package index: then only dates are told.
    """

    url: str
    folders: tuple[str, ...]
    tags: str | None = "v"


PARTS: dict[str, Part] = {
    "ms-swift": Part("https://github.com/modelscope/ms-swift", ("swift/",)),
    "llamafactory": Part("https://github.com/hiyouga/LLaMA-Factory", ("src/",)),
    "trl": Part("https://github.com/huggingface/trl", ("trl/",)),
    "verl": Part("https://github.com/verl-project/verl", ("verl/",)),
    "axolotl": Part("https://github.com/axolotl-ai-cloud/axolotl", ("src/",)),
    "openrlhf": Part("https://github.com/OpenRLHF/OpenRLHF", ("openrlhf/",)),
    "unsloth": Part("https://github.com/unslothai/unsloth", ("unsloth/",), None),
    "peft": Part("https://github.com/huggingface/peft", ("src/",)),
    "accelerate": Part("https://github.com/huggingface/accelerate", ("src/",)),
    "deepspeed": Part("https://github.com/deepspeedai/DeepSpeed", ("deepspeed/",)),
    "slime": Part("https://github.com/THUDM/slime", ("slime/", "slime_plugins/")),
    "miles": Part("https://github.com/radixark/miles", ("miles/", "miles_plugins/")),
    "easyr1": Part("https://github.com/hiyouga/EasyR1", ("verl/",)),
    "nemo-rl": Part("https://github.com/NVIDIA-NeMo/RL", ("nemo_rl/",)),
    "liger-kernel": Part("https://github.com/linkedin/Liger-Kernel", ("src/liger_kernel/",)),
    "bitsandbytes": Part(
        "https://github.com/bitsandbytes-foundation/bitsandbytes", ("bitsandbytes/",)
    ),
    "megatron-core": Part("https://github.com/NVIDIA/Megatron-LM", ("megatron/core/",), "core_v"),
    "unsloth_zoo": Part("https://github.com/unslothai/unsloth-zoo", ("unsloth_zoo/",), None),
}
