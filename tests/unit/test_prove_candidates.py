from __future__ import annotations

from pathlib import Path

from trainrx.model.facts import Origin
from trainrx.model.job import EnvVar, RawArg, RawLaunch
from trainrx.model.memory import Workload
from trainrx.model.result import Change
from trainrx.prove.candidates import CandidateJob, subject_of, with_change
from trainrx.prove.planning import canonical
from unit.planned_jobs import example, written

HERE = Origin(source="launch.sh")
RAW = RawLaunch(
    framework="ms-swift",
    command="sft",
    args=(RawArg(name="max_length", values=("2048",), origin=HERE),),
    env=(EnvVar(name="MAX_PIXELS", value="1", origin=HERE),),
    origin=HERE,
    launcher=(RawArg(name="nproc_per_node", values=("2",), origin=HERE),),
)


def change(kind: str, param: str, to: str | None) -> Change:
    return Change(
        kind=kind,  # type: ignore[arg-type]
        param=param,
        canonical="",
        action="set",
        to=to,
        spelled=f"{param}={to}",
    )


def test_an_argument_is_replaced_or_added() -> None:
    raw = with_change(with_change(RAW, change("arg", "max_length", "512")), change("arg", "x", "1"))

    assert {arg.name: arg.values for arg in raw.args} == {"max_length": ("512",), "x": ("1",)}


def test_a_bare_switch_has_no_value() -> None:
    assert with_change(RAW, change("arg", "flash_attn", "")).args[-1].values == ()


def test_what_the_launcher_is_told_stays_with_the_launcher() -> None:
    raw = with_change(RAW, change("arg", "nproc-per-node", "8"))

    assert [(arg.name, arg.values) for arg in raw.launcher] == [("nproc-per-node", ("8",))]
    assert raw.args == RAW.args


def test_a_variable_is_set_once() -> None:
    raw = with_change(RAW, change("env", "MAX_PIXELS", "602112"))

    assert [(item.name, item.value) for item in raw.env] == [("MAX_PIXELS", "602112")]


def test_a_package_is_no_part_of_the_launch() -> None:
    assert with_change(RAW, change("package", "vllm", ">=0.8")) == RAW


def test_the_quick_way_and_the_proof_come_to_the_same_workload() -> None:
    subject = subject_of(example("01-vl7b-grpo-8xA30-24g", gpu="A30", gpus=8))
    assert subject is not None
    candidate = CandidateJob(subject, failed=True)
    values = {"parallel.deepspeed": "zero3", "train.micro_batch": 1, "vision.max_pixels": 602112}

    quick, proved = candidate.work(values), candidate.prove(values)

    assert isinstance(quick, Workload)
    assert proved is not None
    assert proved.work == quick
    assert all(check.holds for check in proved.checks)


def test_a_plan_that_runs_into_a_check_of_the_framework_is_not_proved() -> None:
    subject = subject_of(example("01-vl7b-grpo-8xA30-24g", gpu="A30", gpus=8))
    assert subject is not None

    proved = CandidateJob(subject, failed=True).prove({"rlhf.num_generations": 5})

    assert proved is not None
    assert {check.name for check in proved.checks if not check.holds} >= {"generations"}


def test_names_are_understood_as_the_framework_spells_them(tmp_path: Path) -> None:
    subject = subject_of(written(tmp_path, "swift sft --model x --dataset y"))
    assert subject is not None

    found = canonical(("per_device_train_batch_size", "MAX_PIXELS", "tuner.rank", "??"), subject)

    assert found == {"train.micro_batch", "vision.max_pixels", "tuner.rank"}
