"""Whatever the job: a plan keeps the batch or says so, and an estimate of what it makes agrees.

The launch is written anew with the plan's changes and estimated on its own, so the proof of a plan
is not taken at its word.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from trainrx.api import estimate
from trainrx.model.memory import Refusal
from trainrx.model.planning import Planned
from trainrx.prove.planner import FILL
from trainrx.prove.planning import plans_for
from unit.planned_jobs import written

VERSIONS = {"ms-swift": "3.6.0", "transformers": "4.52.0"}
ARGUMENTS = st.fixed_dictionaries(
    {
        "model": st.sampled_from(["Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-32B-Instruct"]),
        "train_type": st.sampled_from(["lora", "full"]),
        "per_device_train_batch_size": st.sampled_from(["1", "2", "4", "6", "16"]),
        "gradient_accumulation_steps": st.sampled_from(["1", "2", "3", "8"]),
        "max_length": st.sampled_from(["1024", "4096", "16384"]),
        "gradient_checkpointing": st.sampled_from(["true", "false"]),
    },
    optional={
        "deepspeed": st.sampled_from(["zero2", "zero3"]),
        "attn_impl": st.sampled_from(["flash_attn", "eager"]),
        "packing": st.just("true"),
    },
)
CARDS = st.sampled_from(["24GiB", "48GiB", "80GiB"])
COUNTS = st.sampled_from([1, 2, 3, 8])


def script(arguments: dict[str, str], env: dict[str, str]) -> str:
    """Write the launch."""
    variables = " ".join(f"{name}={value}" for name, value in env.items())
    flags = " ".join(f"--{name} {value}" for name, value in arguments.items())
    return f"{variables} swift sft --dataset x.jsonl --torch_dtype bfloat16 {flags}\n"


@examples(12)
@given(ARGUMENTS, CARDS, COUNTS)
def test_plans_are_what_an_estimate_of_the_changed_launch_says(
    arguments: dict[str, str], card: str, gpus: int
) -> None:
    env = {"NPROC_PER_NODE": str(gpus), "CUDA_VISIBLE_DEVICES": ",".join(map(str, range(gpus)))}
    with TemporaryDirectory() as name:
        folder = Path(name)
        job = written(folder, script(arguments, env), versions=VERSIONS, gpu=card, gpus=gpus)
        found = plans_for(job)
        for plan in () if isinstance(found, Refusal) else found:
            _agrees(plan, arguments, env, folder, card, gpus)


def _agrees(
    plan: Planned,
    arguments: dict[str, str],
    env: dict[str, str],
    folder: Path,
    card: str,
    gpus: int,
) -> None:
    flags, variables = dict(arguments), dict(env)
    for change in plan.changes:
        (variables if change.kind == "env" else flags)[change.param] = change.to or ""
    changed = folder / "changed.sh"
    changed.write_text(script(flags, variables))

    told = estimate(cmd=changed, versions=VERSIONS, gpu=card, gpus=gpus)

    assert told.card is not None
    assert told.card.gib <= FILL * plan.limit_gib + 0.01
    assert abs(told.card.gib - plan.after.gib) < 0.01
    processes = int(variables["NPROC_PER_NODE"]) // int(flags.get("sequence_parallel_size", 1))
    batch = processes * int(flags["per_device_train_batch_size"])
    assert plan.batch_after == batch * int(flags["gradient_accumulation_steps"])
    if plan.safety == "safe":
        assert plan.batch_after == plan.batch_before
    assert len({plan.aim, *plan.also}) == 1 + len(plan.also)
