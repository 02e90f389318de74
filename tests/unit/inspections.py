"""Resolved launches as records, for the pages and their JSON."""

from __future__ import annotations

import msgspec

from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.inspection import (
    Comparison,
    InspectedJob,
    Inspection,
    Item,
    Pair,
    Sided,
    Stranger,
    Topic,
)
from trainrx.model.job import Defect
from trainrx.model.result import Tool

TOOL = Tool(name="trainrx", version="0.1.0", kb="0123456789ab", engine="")
SCRIPT = "jobs/launch.sh"


def at(line: int, text: str = "") -> Origin:
    return Origin(source=SCRIPT, line=line, text=text)


def arg(topic: Topic, name: str, value: object, line: int, **more: object) -> Item:
    item = Item(topic=topic, name=name, via="arg", how="read", text=str(value), origins=(at(line),))
    return msgspec.structs.replace(item, value=value, **more)


def default(topic: Topic, name: str, value: object, **more: object) -> Item:
    item = Item(topic=topic, name=name, via="default", how="default", package="ms-swift")
    return msgspec.structs.replace(item, value=value, **more)


def derived(topic: Topic, name: str, value: object, *sources: str) -> Item:
    item = Item(topic=topic, name=name, via="derived", how="derived", canonical=name)
    return msgspec.structs.replace(item, value=value, sources=sources)


def canonical(item: Item, name: str) -> Item:
    return msgspec.structs.replace(item, canonical=name)


BATCH = arg("batch", "per_device_train_batch_size", 2, 5, canonical="train.micro_batch")
HIDDEN = arg(
    "batch",
    "max_length",
    None,
    6,
    known=False,
    text="$LEN",
    canonical="train.max_length",
    why="it is not set in the script",
    alternatives=("2048", "8192"),
)
STEPS = Item(
    topic="batch",
    name="gradient_accumulation_steps",
    via="computed",
    how="default",
    value=4,
    canonical="train.grad_accum",
    sources=("per_device_train_batch_size", "NPROC_PER_NODE"),
)
PIXELS = Item(
    topic="vision",
    name="MAX_PIXELS",
    via="env",
    how="read",
    value="602112",
    text="602112",
    canonical="vision.max_pixels",
    origins=(at(2),),
)
TOKEN = Item(
    topic="environment",
    name="HF_TOKEN",
    via="env",
    how="read",
    value="hf_" + "abcdEFGHijklMNOPqrst",
    text="hf_" + "abcdEFGHijklMNOPqrst",
    origins=(at(3, "export HF_TOKEN=hf_" + "abcdEFGHijklMNOPqrst"),),
)


def job(**more: object) -> InspectedJob:
    made = InspectedJob(
        place=at(4, "swift sft \\"),
        framework="ms-swift",
        command="sft",
        version="3.2.1",
        version_how="given",
        task="sft",
        model="Qwen/Qwen2.5-VL-7B-Instruct",
        role="trainer",
        arguments=(
            arg("model", "model", "Qwen/Qwen2.5-VL-7B-Instruct", 5, canonical="model.name"),
            BATCH,
            HIDDEN,
            arg("tuner", "target_modules", ["q_proj", "v_proj"], 7, given_as="target_mod"),
            arg("data", "dataset", ["数据/训练集.jsonl"], 8, canonical="train.dataset"),
            default("batch", "packing", False, canonical="train.packing"),
            default("memory", "attn_impl", None, canonical="train.attention"),
            default("other", "lang", "en"),
        ),
        settings=(
            canonical(msgspec.structs.replace(BATCH), "train.micro_batch"),
            STEPS,
            PIXELS,
            default("batch", "packing", False, canonical="train.packing"),
            default("tuner", "train_type", "lora", canonical="tuner.type"),
        ),
        facts=(
            derived("batch", "batch.effective", 64, "per_device_train_batch_size"),
            derived("parallel", "parallel.world_size", 8, "NPROC_PER_NODE"),
            derived("parallel", "hardware.nodes", 1),
            derived("vision", "vision.pixel_cap", 602112, "MAX_PIXELS"),
            derived("parallel", "parallel.offload_params", True, "deepspeed"),
            derived("parallel", "parallel.zero_stage", 3, "deepspeed"),
        ),
        env=(PIXELS, TOKEN),
        strangers=(
            Stranger(
                name="sft_type",
                values=("lora",),
                origin=at(9),
                instead="train_type",
                takers="ms-swift <3.0",
            ),
            Stranger(name="batchsize", values=None, origin=at(10)),
            Stranger(name="grad_dtype", values=None, origin=at(10), documented="ms-swift >=4.7"),
            Stranger(name="freeze_x", values=(), origin=at(11), takers="ms-swift >=4.0"),
        ),
        shadowed=(arg("vision", "max_pixels", 1000, 12, canonical="vision.max_pixels"),),
        defects=(
            Defect(
                id="space-after-backslash",
                source=SCRIPT,
                line=7,
                text="--target_mod q_proj v_proj \\ ",
                message="A blank after the backslash ends the command here.",
                column=29,
            ),
        ),
        unread=(Unread(source="ds.json", reason="is not at hand: add it with --config"),),
    )
    return msgspec.structs.replace(made, **more)


def inspection(*jobs: InspectedJob) -> Inspection:
    return Inspection(tool=TOOL, jobs=jobs or (job(),))


def comparison() -> Comparison:
    lost = default("vision", "max_pixels", None, canonical="vision.max_pixels")
    now = Origin(source="new.sh", line=9)
    alpha = arg("tuner", "lora_alpha", 16, 11, canonical="tuner.alpha")
    return Comparison(
        tool=TOOL,
        verdict="differs",
        good=Sided(
            place=at(4),
            framework="ms-swift",
            command="sft",
            version="2.6.1",
            version_how="given",
        ),
        bad=Sided(
            place=Origin(source="new.sh", line=3),
            framework="ms-swift",
            command="sft",
            version=">=3.0,<3.2",
            version_how="derived",
            further=1,
        ),
        changes=(
            Pair(
                topic="vision",
                name="MAX_PIXELS",
                canonical="vision.max_pixels",
                good=PIXELS,
                bad=lost,
            ),
            Pair(
                topic="tuner",
                name="lora_alpha",
                canonical="tuner.alpha",
                good=alpha,
                bad=msgspec.structs.replace(alpha, value=32, origins=(now,)),
            ),
            Pair(topic="environment", name="MY_VAR", matters=False, good=TOKEN),
        ),
        facts=(
            Pair(
                topic="vision",
                name="vision.pixel_cap",
                good=derived("vision", "vision.pixel_cap", 602112, "MAX_PIXELS"),
                bad=derived("vision", "vision.pixel_cap", 12845056),
            ),
        ),
        lone=(
            Pair(
                topic="other",
                name="custom_flag",
                matters=False,
                good=arg("other", "custom_flag", "x", 20),
            ),
        ),
        open=(Pair(topic="batch", name="max_length", good=HIDDEN, bad=HIDDEN),),
        renamed=(
            Pair(
                topic="model",
                name="model",
                good=arg("model", "model_id_or_path", "m", 5),
                bad=arg("model", "model", "m", 5),
            ),
        ),
        defaults=(Pair(topic="other", name="lang", good=default("other", "lang", "en")),),
        same=12,
    )
