"""Make good launches out of the example scripts of a framework: the tiny model and rows put in.

usage: mutate_bases.py CHECKOUT TAG VERSION [PATTERN...] > launches.jsonl

CHECKOUT is a git repository of ms-swift or LLaMA-Factory. Only scripts that make one launch are
taken; whether the framework takes what comes out is for `judge.py` to tell.
"""

from __future__ import annotations

import fnmatch
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

COMMANDS = ("sft", "rlhf", "pt", "dpo", "orpo", "simpo")
MODELS = {
    "2": {"model_type": "qwen2_5-7b-instruct", "model_id_or_path": "./tiny"},
    "3": {"model": "./tiny", "model_type": "qwen2_5"},
    "4": {"model": "./tiny", "model_type": "qwen2", "template": "qwen2_5"},
}
# what names a model, rows, a machine or a package that is not there
DROPPED = {
    *("model", "model_id_or_path", "model_type", "template", "template_type", "model_revision"),
    *("model_name", "model_author", "system", "custom_train_dataset_path", "self_cognition_sample"),
    *("val_dataset", "dataset", "train_dataset_sample", "custom_val_dataset_path", "report_to"),
    *("attn_impl", "use_flash_attn", "external_plugins", "cached_dataset", "reward_model"),
    *("reward_model_type", "ref_model", "ref_model_type", "ref_model_id_or_path", "dtype"),
    *("torch_dtype", "bf16", "fp16", "custom_register_path", "swanlab_project", "use_liger"),
    *("use_liger_kernel", "dataloader_num_workers", "dataset_num_proc", "packing", "padding_free"),
    *("resume_from_checkpoint", "adapters", "reward_funcs", "reward_weights", "quant_method"),
    *("num_train_epochs", "max_steps", "ddp_backend", "hub_token", "hub_model_id", "push_to_hub"),
}
ROWS = {"dpo": "pref.jsonl", "orpo": "pref.jsonl", "simpo": "pref.jsonl", "cpo": "pref.jsonl"}
ROWS |= {"rm": "pref.jsonl", "kto": "kto.jsonl", "grpo": "math.jsonl", "pt": "pt.jsonl"}


def main() -> int:
    """Write the launches of the tag."""
    checkout, tag, version, *patterns = sys.argv[1:]
    listed = _git(checkout, "ls-tree", "-r", "--name-only", tag).splitlines()
    for path in listed:
        if not any(fnmatch.fnmatch(path, pattern) for pattern in patterns):
            continue
        text = _git(checkout, "show", f"{tag}:{path}")
        made = _swift(text, version) if path.endswith(".sh") else None
        if made is None:
            continue
        launch = {"id": "", "framework": "ms-swift", "version": version, "kind": "base"}
        print(json.dumps({**launch, "base": path, "files": {"launch.sh": made}}))
    return 0


def _git(checkout: str, *words: str) -> str:
    done = subprocess.run(  # noqa: S603
        ["git", "-C", checkout, *words],  # noqa: S607
        capture_output=True,
        check=True,
        text=True,
        errors="replace",
    )
    return done.stdout


def _swift(text: str, version: str) -> str | None:
    """Give the launch with the tiny model; None when it is not a plain one."""
    lines = [line for line in text.split("\n") if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\s*\n", " ", "\n".join(lines))
    found = [line for line in joined.split("\n") if re.search(r"\bswift \w+ |llm_sft\.py", line)]
    joined = joined.replace("python llm_sft.py", "swift sft")
    if len(found) != 1 or "$" in found[0] or "megatron" in joined:
        return None
    words = shlex.split(found[0].replace("python llm_sft.py", "swift sft"))
    start = words.index("swift") if "swift" in words else -1
    if start < 0 or len(words) < start + 3 or words[start + 1] not in COMMANDS:
        return None
    exported = re.findall(r"^export (\w+)=(\S+)$", joined, re.MULTILINE)
    env = dict(exported) | dict(word.split("=", 1) for word in words[:start] if "=" in word)
    options = dict(_options(words[start + 2 :]))
    return _written(words[start + 1], options, env, version)


def _options(words: list[str]) -> Iterator[tuple[str, list[str]]]:
    name, values = "", list[str]()
    for word in [*words, "--"]:
        if word.startswith("--"):
            if name:
                yield name, values
            name, values = word[2:], []
        else:
            values.append(word)


def _written(command: str, options: dict[str, Any], env: dict[str, str], version: str) -> str:
    kind = (options.get("rlhf_type") or [command])[0]
    kept = {
        name: values
        for name, values in options.items()
        if name not in DROPPED
        and not re.match(r"vllm_|sglang_|lmdeploy_|use_vllm|use_lmdeploy", name)
    }
    major = version[0]
    rows = ROWS.get(kind, "data.jsonl")
    rows = "pref2.jsonl" if major == "2" and rows == "pref.jsonl" else rows
    head = {name: [value] for name, value in MODELS[major].items()} | {"dataset": [rows]}
    tail: dict[str, list[str]] = {"max_steps": ["8"]}
    tail |= {"dtype": ["fp32"]} if major == "2" else {"torch_dtype": ["float32"]}
    if kind == "grpo":
        tail |= {"reward_funcs": ["format"]}
    if kind == "rlhf" and "rlhf_type" not in kept:
        head = {"rlhf_type": ["dpo"]} | head
    if "packing" in options and major != "2":
        tail |= {"packing": ["true"], "attn_impl": ["flash_attn"]}
    if int(env.get("NPROC_PER_NODE", "1")) > 1:
        env |= {"NPROC_PER_NODE": "2", "CUDA_VISIBLE_DEVICES": "0,1"}
    elif "CUDA_VISIBLE_DEVICES" in env:
        env["CUDA_VISIBLE_DEVICES"] = "0"
    wanted = (
        "NPROC_PER_NODE",
        "CUDA_VISIBLE_DEVICES",
        "MASTER_PORT",
        "MAX_PIXELS",
        "OMP_NUM_THREADS",
    )
    before = [f"{name}={env[name]}" for name in wanted if name in env]
    lines = [*before, f"swift {command}"]
    for name, values in {**head, **kept, **tail}.items():
        lines.append("    " + " ".join([f"--{name}", *(shlex.quote(value) for value in values)]))
    return " \\\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
