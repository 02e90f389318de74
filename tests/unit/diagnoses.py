"""Answers as the tool gives them, for the tests of the renderers."""

from __future__ import annotations

from typing import Literal

from trainrx.model.facts import Origin
from trainrx.model.findings import Edit, Finding, FindingFix, Unread
from trainrx.model.job import LineRepair
from trainrx.model.result import (
    AlreadyRight,
    Ask,
    CauseOut,
    Change,
    Diagnosis,
    FixOut,
    InputRead,
    JobSummary,
    NotOffered,
    Predicted,
    ProvedPlan,
    Reason,
    ReferenceOut,
    SymptomSeen,
    Tool,
)

TOOL = Tool(name="trainrx", version="0.1.0", kb="0.1.0+3f2a9c", engine="durable_rules 2.0.28")
OOM_LINE = Origin(
    source="logs/rank4.log",
    line=412,
    text=(
        "[rank4]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.27 GiB. GPU 4 "
        "has a total capacity of 31.74 GiB of which 2.11 GiB is free. Process 88123 has 29.61 GiB "
        "memory in use."
    ),
)
SITE_LINE = Origin(
    source="logs/rank4.log",
    line=398,
    text='  File "/opt/conda/lib/python3.10/site-packages/transformers/models/qwen2_vl/'
    'modeling_qwen2_vl.py", line 367, in forward',
)
ECHO_LINE = Origin(
    source="logs/rank0.log",
    line=530,
    text="torch.distributed.elastic.multiprocessing.errors.ChildFailedError:",
)


def _t(lang: str, en: str, zh: str) -> str:
    return zh if lang == "zh" else en


def oom(lang: Literal["en", "zh"] = "en") -> Diagnosis:
    """One GPU of two nodes runs out of memory on an image without a pixel cap."""
    return Diagnosis(
        tool=TOOL,
        verdict="diagnosed",
        lang=lang,
        job=JobSummary(
            framework="ms-swift",
            framework_version="3.2.1",
            task="sft",
            model="Qwen2-VL-7B-Instruct",
            gpu="V100-32G",
            gpus=16,
            nodes=2,
        ),
        symptoms=_symptoms(lang),
        causes=(_uncapped(lang), _attention(lang)),
        plan=_plan(lang),
        asks=(
            Ask(
                id="question-1",
                what=_t(
                    lang,
                    "Which attention does the vision tower use?",
                    "视觉塔用的是哪种 attention 实现？",
                ),
                how=_t(
                    lang,
                    "run `pip freeze | grep -i flash` and give the output with --versions",
                    "运行 `pip freeze | grep -i flash`，把输出用 --versions 提供",
                ),
                reading=(
                    _t(
                        lang,
                        "none is listed -> The vision tower computes dense attention",
                        "没有列出 -> 视觉塔用了稠密 attention",
                    ),
                ),
            ),
        ),
        findings=(_finding(lang),),
        unread=(
            Unread(
                source="launch.sh",
                line=3,
                reason=_t(
                    lang,
                    "the file that is sourced is not here; it may set variables",
                    "source 的文件不在这里，其中可能设置了变量",
                ),
                text="source ./cluster_env.sh",
            ),
        ),
        facts={"launch.given": True, "log.given": True, "train.micro_batch": 1},
    )


def _symptoms(lang: str) -> tuple[SymptomSeen, ...]:
    return (
        SymptomSeen(
            id="cuda-oom",
            title=_t(lang, "CUDA ran out of memory", "CUDA 显存不足（OOM）"),
            family="oom",
            evidence=(OOM_LINE,),
            ranks=(4,),
            phase="train",
        ),
        SymptomSeen(
            id="child-failed-error",
            title=_t(lang, "torchrun reports that a rank failed", "torchrun 报告某个 rank 失败"),
            family=None,
            evidence=(ECHO_LINE,),
            count=2,
            ranks=(0, 8),
            echo_of="cuda-oom",
        ),
    )


def _uncapped(lang: str) -> CauseOut:
    return CauseOut(
        id="pixels-not-capped",
        title=_t(
            lang,
            "Image size is not capped, so one GPU receives a full-resolution image",
            "没有限制图像分辨率，某张卡碰上了一张全分辨率大图",
        ),
        summary=_t(
            lang,
            "Without MAX_PIXELS an image may take 12,845,056 pixels, that is 16,384 visual tokens. "
            "The rank that draws such an image needs many times the memory of the others and dies "
            "alone.",
            "未设置 MAX_PIXELS 时，单张图像最多可占 12,845,056 像素，即 16,384 个视觉 token。"
            "碰上大图的那个 rank 显存占用会成倍高于其他卡，于是单独 OOM。",
        ),
        family="oom",
        verdict="likely",
        score=2.35,
        probability=0.913,
        prior=0.2,
        reasons=_reasons(lang),
        effects=("child-failed-error",),
        fixes=_fixes(lang),
        already_right=(
            AlreadyRight(
                id="freeze-vision",
                title=_t(lang, "Freeze the vision tower", "冻结视觉塔"),
                spelled="--freeze_vit true",
                evidence=(Origin(source="launch.sh", line=18, text="  --freeze_vit true \\"),),
            ),
            AlreadyRight(
                id="checkpointing",
                title=_t(lang, "Turn on gradient checkpointing", "开启梯度检查点"),
                spelled="--gradient_checkpointing true",
                evidence=(Origin(source="launch.sh", line=23),),
            ),
        ),
        not_offered=(
            NotOffered(
                id="two-processes",
                title=_t(lang, "Start as many processes as GPUs", "进程数与 GPU 数一致"),
                why=_t(
                    lang,
                    "Offered if: parallel.idle_gpus >= 1 (here: parallel.idle_gpus = 0)",
                    "适用条件：parallel.idle_gpus >= 1（此处：parallel.idle_gpus = 0）",
                ),
            ),
        ),
        references=(
            ReferenceOut(
                url="https://github.com/modelscope/ms-swift/issues/3285",
                says=_t(
                    lang,
                    "The launch that worked exported MAX_PIXELS=602112, the failing one does not.",
                    "能跑的启动命令设了 MAX_PIXELS=602112，失败的没有设。",
                ),
            ),
        ),
    )


def _reasons(lang: str) -> tuple[Reason, ...]:
    return (
        Reason(
            id="one-rank-only",
            text=_t(
                lang,
                "Only rank 4 of 16 ran out of memory, the others use under 10 GiB.",
                "16 个 rank 中只有 rank 4 显存不足，其余占用不到 10 GiB。",
            ),
            weight=2.0,
            holds=True,
            evidence=(OOM_LINE,),
        ),
        Reason(
            id="died-in-vision",
            text=_t(
                lang,
                "It died in the attention of the vision tower.",
                "出错位置在视觉塔的 attention。",
            ),
            weight=1.5,
            holds=True,
            evidence=(SITE_LINE,),
        ),
        Reason(
            id="no-cap",
            text=_t(lang, "No pixel cap is set.", "没有设置像素上限。"),
            weight=0.73629,
            holds=True,
            evidence=(Origin(source="launch.sh", line=12),),
        ),
        Reason(
            id="text-only",
            text=_t(lang, "The data set holds text only.", "数据集只有文本。"),
            weight=-3.0,
            holds=False,
        ),
        Reason(
            id="flash-missing",
            text=_t(
                lang,
                "Attention without flash-attn needs memory for patches squared.",
                "不用 flash-attn 时，attention 显存随图像块数平方增长。",
            ),
            weight=0.8,
            holds=None,
        ),
        Reason(
            id="short-sequences",
            text=_t(lang, "Sequences are cut at 2048 tokens.", "序列截断到 2048 token。"),
            weight=-0.5,
            holds=True,
            evidence=(Origin(source="launch.sh", line=30, text="  --max_length 2048 \\"),),
        ),
    )


def _fixes(lang: str) -> tuple[FixOut, ...]:
    return (
        FixOut(
            id="cap-pixels",
            title=_t(lang, "Cap the image size", "限制图像分辨率"),
            safety="changes-results",
            cost=_t(
                lang,
                "Fine print in large images is lost.",
                "大图中的细小文字会看不清。",
            ),
            changes=(
                Change(
                    kind="env",
                    param="MAX_PIXELS",
                    canonical="vision.max_pixels",
                    action="set",
                    to="602112",
                    spelled="MAX_PIXELS=602112",
                ),
            ),
            predicted=Predicted(
                before_gib=38.9, after_gib=21.1, limit_gib=31.7, low_gib=19.4, high_gib=23.0
            ),
        ),
        FixOut(
            id="shard-weights",
            title=_t(lang, "Keep the weights on the GPU, sharded", "权重分片但留在显存中"),
            safety="safe",
            cost=_t(lang, "More communication between nodes.", "节点间通信增多。"),
            changes=(
                Change(
                    kind="arg",
                    param="deepspeed",
                    canonical="parallel.deepspeed",
                    action="switch",
                    from_="zero3_offload",
                    to="zero3",
                    spelled="--deepspeed zero3",
                    at=Origin(source="launch.sh", line=27, text="  --deepspeed zero3_offload"),
                ),
                Change(
                    kind="arg",
                    param="gradient_accumulation_steps",
                    canonical="train.grad_accum",
                    action="raise",
                    from_="2",
                    to="4",
                    spelled="--gradient_accumulation_steps 4",
                    at=Origin(source="launch.sh", line=22),
                ),
            ),
        ),
        FixOut(
            id="install-flash-attn",
            title=_t(lang, "Install flash-attn", "安装 flash-attn"),
            safety="safe",
            cost=_t(lang, "Needs an Ampere card or newer.", "需要 Ampere 及以上的显卡。"),
            steps=_t(
                lang,
                "Install it against the torch that is already there, then start the job again.",
                "在现有 torch 环境下安装，然后重新启动任务。",
            ),
            commands=("pip install flash-attn --no-build-isolation --no-cache-dir --verbose -U",),
        ),
    )


def _plan(lang: str) -> ProvedPlan:
    fix = _fixes(lang)[0]
    return ProvedPlan(
        changes=fix.changes,
        predicted=fix.predicted,
        proved=True,
        fits=True,
        safety=fix.safety,
        cost=fix.cost,
        command="diagnose fix launch.sh --log logs/ --gpu V100-32G --gpus 16",
    )


def _attention(lang: str) -> CauseOut:
    return CauseOut(
        id="vision-attention-quadratic",
        title=_t(
            lang,
            "The vision tower runs attention without flash-attn",
            "视觉塔的 attention 没有使用 flash-attn",
        ),
        summary=_t(lang, "Memory grows with patches squared.", "显存随图像块数平方增长。"),
        family="oom",
        verdict="possible",
        score=-0.4,
        probability=0.401,
        prior=0.15,
        reasons=(
            Reason(
                id="died-in-vision",
                text=_t(
                    lang,
                    "It died in the attention of the vision tower.",
                    "出错位置在视觉塔的 attention。",
                ),
                weight=1.33,
                holds=True,
                evidence=(SITE_LINE,),
            ),
        ),
        fixes=(
            FixOut(
                id="use-sdpa",
                title=_t(lang, "Use another attention", "改用其他注意力实现"),
                safety="safe",
                cost=_t(lang, "None worth mentioning.", "几乎没有。"),
                changes=(
                    Change(
                        kind="arg",
                        param="attn_impl",
                        canonical="train.attention",
                        action="add",
                        to="sdpa",
                        spelled="--attn_impl sdpa",
                    ),
                ),
            ),
        ),
    )


def _finding(lang: str) -> Finding:
    return Finding(
        rule="bf16-on-v100",
        severity="warning",
        message=_t(
            lang,
            "V100 has no bf16 hardware; float16 is the fast choice.",
            "V100 硬件不支持 bf16，请用 float16。",
        ),
        file="launch.sh",
        line=14,
        column=3,
        fix=FindingFix(
            safety="safe",
            edits=(
                Edit(
                    file="launch.sh",
                    line=14,
                    column=3,
                    end_line=14,
                    end_column=25,
                    text="--torch_dtype float16",
                ),
            ),
        ),
    )


def unknown(lang: Literal["en", "zh"] = "en") -> Diagnosis:
    """Only the end of a log is at hand."""
    return Diagnosis(
        tool=TOOL,
        verdict="unknown",
        lang=lang,
        job=JobSummary(),
        symptoms=(
            SymptomSeen(
                id="child-failed-error",
                title=_t(
                    lang, "torchrun reports that a rank failed", "torchrun 报告某个 rank 失败"
                ),
                family=None,
                evidence=(ECHO_LINE,),
            ),
        ),
        asks=(
            Ask(
                id="question-2",
                what=_t(
                    lang, "The log of the rank that failed first", "最先失败的那个 rank 的日志"
                ),
                how=_t(
                    lang,
                    "start torchrun with `--redirects 3 --log-dir logs`, then give the folder: "
                    "`diagnose logs/`",
                    "用 `--redirects 3 --log-dir logs` 启动 torchrun，再提供该目录："
                    "`diagnose logs/`",
                ),
            ),
            Ask(
                id="question-3",
                what=_t(lang, "The launch script", "启动脚本"),
                how="--cmd launch.sh",
            ),
        ),
        inputs=(
            InputRead(
                kind="log",
                source="post.md",
                spans=((14, 20), (21, 21), (30, 31)),
                text=ECHO_LINE.text,
            ),
            InputRead(
                kind="script",
                source="post.md",
                spans=((4, 6),),
                text="swift sft",
                repairs=(
                    LineRepair(line=4, what="continuation"),
                    LineRepair(line=5, what="continuation"),
                    LineRepair(line=6, what="signs"),
                ),
            ),
            InputRead(kind="versions", source="freeze.txt", text="torch==2.6.0"),
        ),
    )


def healthy(lang: Literal["en", "zh"] = "en") -> Diagnosis:
    """A finished run."""
    return Diagnosis(
        tool=TOOL,
        verdict="healthy",
        lang=lang,
        job=JobSummary(framework="llamafactory", task="sft", gpus=1, nodes=1),
        facts={
            "launch.given": True,
            "log.given": True,
            "log.finished": True,
            "train.micro_batch": 2,
            "tuner.type": "lora",
        },
    )


ALL = {"oom": oom, "unknown": unknown, "healthy": healthy}
