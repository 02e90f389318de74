"""What is trained: all weights, adapters on which matrices, or a part that is told by name."""

from __future__ import annotations

import re

import msgspec

from trainrx.memory.job import PROJECTOR, VISUAL, TrainingJob
from trainrx.model.memory import Refusal, Workload

LINEAR = ("q", "k", "v", "o", "gate", "up", "down")
LORA = frozenset({"lora", "qlora", "dora", "adalora", "longlora", "lora_llm"})
SMALL = frozenset({"adapter", "ia3", "vera", "fourierft"})
"""Their trained parameters are a handful of vectors, whose states are nothing beside the rest."""
SMALL_B = 0.001
ROLES: tuple[tuple[str, tuple[str, ...]], ...] = (
    # longest first: `gate_up_proj` holds `up_proj`, `dense_h_to_4h` holds `dense`
    (r"gate_up_proj", ("gate", "up")),
    (r"qkv_proj|c_attn|query_key_value|w_?pack|wqkv|in_proj_qkv\w*", ("qkv",)),
    (r"dense_h_to_4h", ("gate", "up")),
    (r"dense_4h_to_h", ("down",)),
    (r"attn\.c_proj|o_proj|out_proj|\bwo\b|\bdense\b", ("o",)),
    (r"\bc_proj\b", ("o", "down")),
    (r"q_proj|q_[ab]_proj", ("q",)),
    (r"k_proj|kv_[ab]_proj\w*", ("k",)),
    (r"v_proj", ("v",)),
    (r"gate_proj|linear_fc1|\bw1\b|\bfc1\b", ("gate",)),
    (r"up_proj|linear_fc1|\bw3\b", ("up",)),
    (r"down_proj|linear_fc2|\bw2\b|\bfc2\b", ("down",)),
    (r"linear_qkv", ("qkv",)),
    (r"linear_proj", ("o",)),
    (r"lm_head|embed_out", ("head",)),
    (r"embed_tokens|\bwte\b|word_embeddings|all-embedding", ("embed",)),
)
"""How models spell the roles: module names in transformers, remote code of Qwen, Baichuan, ChatGLM
and InternLM (swift/utils/module_mapping.py) and Megatron's own."""
PACKED = re.compile(
    r"qwen-|qwen1_|qwen-1_8|chatglm|glm-4(?!\.|-32)|glm4-9b|baichuan|internlm2|phi-?3"
)
"""Models whose query, key and value are one matrix."""


def with_tuner(job: TrainingJob, work: Workload) -> Workload | Refusal:
    """Fill in `tuner` with what belongs to it."""
    tuner = job.tuner()
    if tuner == "full":
        return _full(job, work)
    if tuner == "freeze":
        return _by_layers(job, work)
    if tuner in SMALL:
        job.assume("small-adapter", "tuner.type", tuner=tuner)
        return msgspec.structs.replace(work, tuner="adapter", trained_b=SMALL_B)
    if tuner not in LORA:
        return job.unmodelled_value("tuner.type", tuner)
    return _lora(job, work)


def _lora(job: TrainingJob, work: Workload) -> Workload:
    rank = job.positive("tuner.rank")
    if rank is None:
        rank = job.framework.default_rank
        job.assume("rank", "tuner.rank", rank=str(rank))
    if tuner_is_dora(job):
        job.assume("dora", "tuner.dora")
    targets = targets_of(job, work.shape.id)
    if _tower_is_adapted(job, targets):
        targets = (*targets, "vision")
    return msgspec.structs.replace(
        work,
        tuner="lora",
        rank=rank,
        targets=targets,
        modules_b=_whole_modules(job, work),
        lora_dropout=job.facts.number("tuner.dropout"),
    )


def tuner_is_dora(job: TrainingJob) -> bool:
    """Tell whether the magnitudes of weights are trained as well (DoRA, arXiv 2402.09353).

    Measured beside LoRA it takes 0.1 GiB more with gradient checkpointing (ms-swift 2, Qwen-7B:
    32.46 and 32.35 GiB), and is not told apart.
    """
    return job.is_on("tuner.dora") or job.tuner() == "dora"


def targets_of(job: TrainingJob, model: str) -> tuple[str, ...]:
    """Give the adapted matrices by role; all linear layers where the names say nothing."""
    told = job.text("tuner.targets")
    if job.is_on("tuner.target_linear") or re.search(r"\ball(?:-linear)?\b", told):
        return LINEAR
    if not told or re.fullmatch(r"\W*(?:default|auto)\W*", told):
        return _default_targets(job, model, told)
    found: list[str] = []
    for pattern, roles in ROLES:
        if re.search(pattern, told):
            found += roles
    if not found:
        job.assume("targets", "tuner.targets", targets=told[:80])
        return LINEAR
    return tuple(dict.fromkeys(found))


def _default_targets(job: TrainingJob, model: str, told: str) -> tuple[str, ...]:
    """Give what gets an adapter unless told.

    All linear layers, unless it is left to peft: q and v, the packed matrix where there is one
    (peft/utils/constants.py: TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING).
    """
    packed = PACKED.search(model.lower()) is not None and "qwen1.5" not in model.lower()
    if told or job.release(job.framework.qkv_targets):
        return ("qkv",) if packed else ("q", "k", "v")
    if job.framework.peft_targets:
        return ("qkv",) if packed else ("q", "v")
    return LINEAR


def _tower_is_adapted(job: TrainingJob, targets: tuple[str, ...]) -> bool:
    """Adapters reach the tower where it is not frozen and all linear layers are adapted."""
    return targets == LINEAR and job.facts.value("freeze.vision") is False


def _whole_modules(job: TrainingJob, work: Workload) -> float:
    """Count embeddings and heads trained whole beside adapters, in 1e9 parameters."""
    named = job.text("tuner.modules_to_save")
    one = (work.shape.vocab or 0) * (work.shape.hidden or 0) / 1e9
    embedding = bool(re.search(r"embed|wte", named))
    head = bool(re.search(r"lm_head|embed_out|output_layer", named))
    return one * (embedding + head)


def _full(job: TrainingJob, work: Workload) -> Workload | Refusal:
    """Full tuning, less what is frozen by part, by name or by share."""
    names = job.text("freeze.parameters")
    if names and not _only_beside(names):
        return job.unmodelled_value("freeze.parameters", names[:80])
    named = job.text("freeze.trainable") if job.framework.trains_by_name else ""
    if named and not _only_beside(named) and job.facts.number("freeze.ratio"):
        job.assume("frozen-share", "freeze.trainable", names=named[:80], share="the rest of it")
    work = msgspec.structs.replace(work, freeze_llm=job.facts.value("freeze.llm") is True)
    ratio = job.facts.number("freeze.ratio")
    if ratio is not None and 0 < ratio <= 1 and work.shape.params_b:
        # swift/utils/torch_utils.py (freeze_parameters): the first parameters up to this share
        left = work.shape.params_b * (1 - ratio)
        return msgspec.structs.replace(work, tuner="freeze", trained_b=left)
    return work


def _only_beside(names: str) -> bool:
    """Tell whether names speak of nothing but towers and projectors."""
    words = re.split(r"[\s,\[\]'\"|()]+", names)
    return all(VISUAL.search(word) or PROJECTOR.search(word) for word in words if word)


def _by_layers(job: TrainingJob, work: Workload) -> Workload:
    """LLaMA-Factory's freeze tuning: some layers, 2 unless told (hparams/finetuning_args.py)."""
    count = abs(job.whole("freeze.trainable_layers") or 2)
    layers = work.shape.layers or 1
    ends = (work.shape.vocab or 0) * (work.shape.hidden or 0) / 1e9
    ends *= 1 if work.shape.tie else 2
    body = max((work.shape.params_b or 0.0) - (work.shape.vision_b or 0.0) - ends, 0.0)
    return msgspec.structs.replace(
        work, tuner="freeze", trained_b=body * min(count, layers) / layers
    )
